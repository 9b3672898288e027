//! The thread that writes. While it waits for one group's sync, the commits that arrive queue up and become the next group,
//! so the busier it is the more callers share a sync, and an idle one answers at once. Callers that it has just answered are
//! likely to be back at once: it waits for them for a moment, or every first of them would have a sync to itself and hold up
//! all the others. The queue is bounded in bytes:
//! callers beyond it wait their turn without holding anything up.

use std::collections::VecDeque;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::commit::{Commit, Committed};
use crate::error::Error;
use crate::notifier::{Notifier, topics_of};
use crate::providers::sqlite::checkpoint::Checkpointer;
use crate::providers::sqlite::ledger::Ledger;
use crate::providers::sqlite::options::Limits;

/// How long it waits for one more that is likely to come; about as long as a fast disk's sync.
const PATIENCE: Duration = Duration::from_micros(100);

pub(super) struct Writer {
    room: Arc<Semaphore>,
    queue_bytes: usize,
    /// Taken only by `drop`, which so tells the thread to end.
    queue: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

struct Request {
    commit: Commit,
    bytes: usize,
    reply: oneshot::Sender<Result<Committed, Error>>,
    _room: OwnedSemaphorePermit,
}

impl Writer {
    pub(super) fn start(ledger: Ledger, checkpointer: Checkpointer, notifier: Notifier, limits: Limits) -> Self {
        let (queue, requests) = mpsc::channel();
        let desk = Desk { ledger, checkpointer, notifier, limits, requests };
        #[expect(clippy::disallowed_methods, reason = "one thread for the store's whole life; SQLite blocks")]
        let thread = std::thread::Builder::new().name("windlass-writer".into()).spawn(move || desk.serve());
        Self {
            room: Arc::new(Semaphore::new(limits.queue_bytes)),
            queue_bytes: limits.queue_bytes,
            queue: Some(queue),
            thread: Some(thread.expect("a process that can open files can start a thread")),
        }
    }

    pub(super) async fn commit(&self, commit: Commit, bytes: usize) -> Result<Committed, Error> {
        let stopped = || Error::Halted { detail: "the writer has stopped".to_owned() };
        let weight = u32::try_from(bytes.min(self.queue_bytes)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(weight).await.map_err(|_| stopped())?;
        let (reply, answer) = oneshot::channel();
        let queue = self.queue.as_ref().expect("taken only by drop");
        queue.send(Request { commit, bytes, reply, _room: room }).map_err(|_| stopped())?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic there was reported where it happened.
            let _ = thread.join();
        }
    }
}

/// Where the thread sits.
struct Desk {
    ledger: Ledger,
    checkpointer: Checkpointer,
    notifier: Notifier,
    limits: Limits,
    requests: mpsc::Receiver<Request>,
}

impl Desk {
    fn serve(self) {
        let (mut arrived, mut just_answered) = (VecDeque::new(), 0);
        loop {
            arrived.extend(self.requests.try_iter());
            let expected = just_answered + arrived.len();
            if arrived.is_empty() {
                let Ok(first) = self.requests.recv() else { break };
                arrived.push_back(first);
            }
            let group = self.gather(&mut arrived, expected);
            just_answered = group.len();
            self.checkpointer.finish_if_near(&self.ledger);
            let commits: Vec<&Commit> = group.iter().map(|request| &request.commit).collect();
            let outcomes = self.ledger.commit_group(&commits);
            self.answer(group, outcomes);
            self.checkpointer.consider(&self.ledger);
        }
        self.checkpointer.leave(&self.ledger);
    }

    fn gather(&self, arrived: &mut VecDeque<Request>, expected: usize) -> Vec<Request> {
        let (mut group, mut bytes) = (Vec::new(), 0);
        while group.len() < self.limits.group_commits && bytes < self.limits.group_bytes {
            let next = arrived.pop_front().or_else(|| match group.len() < expected {
                true => self.requests.recv_timeout(PATIENCE).ok(),
                false => self.requests.try_recv().ok(),
            });
            let Some(request) = next else { break };
            bytes += request.bytes;
            group.push(request);
        }
        group
    }

    fn answer(&self, group: Vec<Request>, outcomes: Vec<Result<Committed, Error>>) {
        let nobody_waits = self.notifier.is_idle();
        for (request, outcome) in group.into_iter().zip(outcomes) {
            if let Ok(committed) = &outcome
                && !nobody_waits
            {
                self.notifier.publish(&topics_of(&request.commit, committed));
            }
            // A caller that has gone away does not want to know.
            let _ = request.reply.send(outcome);
        }
    }
}
