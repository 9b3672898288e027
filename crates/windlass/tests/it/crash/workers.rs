//! Two trials at a time, so that neither core waits for the other's disk.

use std::collections::VecDeque;
use std::sync::Mutex;

const WORKERS: usize = 2;

/// Does every job, and the jobs that jobs lead to.
pub fn work_through<J: Send>(jobs: impl IntoIterator<Item = J>, perform: impl Fn(J) -> Option<J> + Sync) {
    let jobs = Mutex::new(jobs.into_iter().collect::<VecDeque<J>>());
    let take = || jobs.lock().expect("no worker panics while it holds the queue").pop_front();
    let put = |job| jobs.lock().expect("no worker panics while it holds the queue").push_back(job);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(job) = take() {
                    perform(job).into_iter().for_each(put);
                }
            });
        }
    });
}
