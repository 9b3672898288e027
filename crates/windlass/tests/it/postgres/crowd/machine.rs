//! A machine: a data directory, and the workers that share it, each in a place that is never empty for long.

use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, Signal, kill_process};

use crate::postgres::store::on;
use crate::support::{Home, Program};

pub struct Machine<'a> {
    home: &'a Home,
    url: &'a str,
    workers: Vec<Worker>,
    started: usize,
}

struct Worker {
    child: Child,
    log: PathBuf,
    stands_still: bool,
}

impl<'a> Machine<'a> {
    pub fn with(count: usize, home: &'a Home, url: &'a str) -> Self {
        let mut machine = Self { home, url, workers: Vec::new(), started: 0 };
        for _ in 0..count {
            let worker = machine.start();
            machine.workers.push(worker);
        }
        machine
    }

    pub fn places(&self) -> usize {
        self.workers.len()
    }

    fn start(&mut self) -> Worker {
        self.started += 1;
        let log = self.home.path().join(format!("worker-{}.log", self.started));
        let program: Program = on(self.url, self.home.windlass(&["worker", "--concurrency", "4", "--drain", "1"]));
        Worker { child: program.start_into(&log), log, stands_still: false }
    }

    /// `kill -9`, and another one in its place.
    pub fn kill(&mut self, place: usize) {
        let fresh = self.start();
        let mut dead = std::mem::replace(&mut self.workers[place], fresh);
        dead.must_run();
        dead.child.kill().expect("it has not been waited for");
        dead.child.wait().expect("it ends");
    }

    /// As a rolling restart does: asked to end, and another one in its place while it does.
    pub fn replace(&mut self, place: usize) {
        let fresh = self.start();
        let mut old = std::mem::replace(&mut self.workers[place], fresh);
        old.must_run();
        old.go_on();
        old.signal(Signal::TERM);
        let status = old.child.wait().expect("it ends");
        old.must_have_ended_well(status);
    }

    /// Nobody tells it, and nobody takes its place.
    pub fn stop_or_go_on(&mut self, place: usize) {
        let worker = &mut self.workers[place];
        worker.must_run();
        if worker.stands_still {
            worker.go_on();
        } else {
            worker.signal(Signal::STOP);
            worker.stands_still = true;
        }
    }

    /// Whoever stands still goes on.
    pub fn all_go_on(&mut self) {
        self.workers.iter_mut().for_each(Worker::go_on);
    }

    /// What they have said, for whoever wants to know why.
    pub fn said(&self) -> String {
        let logs = (1..=self.started).map(|number| self.home.path().join(format!("worker-{number}.log")));
        let said = logs.filter_map(|log| Some((log.clone(), std::fs::read_to_string(log).ok()?)));
        said.map(|(log, said)| format!("{}:\n{said}", log.display())).collect::<Vec<_>>().join("\n")
    }

    pub fn end(mut self) {
        for worker in &mut self.workers {
            worker.must_run();
            worker.go_on();
            worker.signal(Signal::TERM);
        }
        for worker in &mut self.workers {
            let status = worker.child.wait().expect("it ends");
            worker.must_have_ended_well(status);
        }
    }
}

impl Worker {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it has not been waited for");
    }

    fn go_on(&mut self) {
        if std::mem::take(&mut self.stands_still) {
            self.signal(Signal::CONT);
        }
    }

    /// Nobody but the storm ends a worker.
    fn must_run(&mut self) {
        let ended = self.child.try_wait().expect("it is ours");
        assert!(ended.is_none(), "a worker ended by itself ({ended:?}): {}", self.said());
    }

    /// One that had not begun yet, and has said nothing, hears of nothing either: the signal itself ends it.
    fn must_have_ended_well(&self, status: ExitStatus) {
        let had_not_begun = status.signal() == Some(Signal::TERM.as_raw()) && self.said().is_empty();
        assert!(status.success() || had_not_begun, "a worker that was asked to end: {status:?}: {}", self.said());
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            let _over = worker.child.kill();
            let _over = worker.child.wait();
        }
    }
}
