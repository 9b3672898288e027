//! The task that writes. While one group's transaction is under way the commits that arrive queue up and become the next
//! group, so the busier it is the more callers share a transaction, and an idle one answers at once. The queue is bounded in
//! bytes: callers beyond it wait their turn. It ends when the store is dropped and what was queued is done.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use windlass_domain::Runtime;

use crate::commit::{Commit, Committed};
use crate::error::Error;
use crate::notifier::{Notifier, topics_of};
use crate::providers::postgres::ledger::Ledger;
use crate::providers::postgres::options::Limits;
use crate::providers::postgres::sweep::Broom;

pub(super) struct Writer {
    room: Arc<Semaphore>,
    queue_bytes: usize,
    queue: mpsc::UnboundedSender<Request>,
    place: String,
}

struct Request {
    commit: Commit,
    bytes: usize,
    reply: oneshot::Sender<Result<Committed, Error>>,
    _room: OwnedSemaphorePermit,
}

impl Writer {
    pub(super) fn start(
        ledger: Ledger,
        notifier: Notifier,
        limits: Limits,
        place: String,
        runtime: &Arc<dyn Runtime>,
    ) -> Self {
        let (queue, requests) = mpsc::unbounded_channel();
        let broom = Broom::new(Arc::clone(runtime));
        let desk = Desk { ledger, notifier, limits, requests, broom };
        runtime.spawn(Box::pin(desk.serve()));
        Self { room: Arc::new(Semaphore::new(limits.queue_bytes)), queue_bytes: limits.queue_bytes, queue, place }
    }

    pub(super) async fn commit(&self, commit: Commit, bytes: usize) -> Result<Committed, Error> {
        let stopped = || Error::Unconfirmed { place: self.place.clone(), detail: "the process is ending".to_owned() };
        let weight = u32::try_from(bytes.min(self.queue_bytes)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(weight).await.map_err(|_| stopped())?;
        let (reply, answer) = oneshot::channel();
        self.queue.send(Request { commit, bytes, reply, _room: room }).map_err(|_| stopped())?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }
}

/// Where the task sits.
struct Desk {
    ledger: Ledger,
    notifier: Notifier,
    limits: Limits,
    requests: mpsc::UnboundedReceiver<Request>,
    broom: Broom,
}

impl Desk {
    async fn serve(mut self) {
        let mut just_answered = 0;
        loop {
            if just_answered > 1 {
                // Those who were just answered are likely to be back at once, if they are let.
                breathe().await;
            }
            let group = self.gather().await;
            if group.is_empty() {
                return;
            }
            just_answered = group.len();
            let commits: Vec<&Commit> = group.iter().map(|request| &request.commit).collect();
            let outcomes = self.ledger.commit_group(&commits).await;
            self.answer(group, outcomes);
            self.broom.sweep_if_due(&mut self.ledger).await;
        }
    }

    /// None: nobody will ask again.
    async fn gather(&mut self) -> Vec<Request> {
        let Some(first) = self.requests.recv().await else { return Vec::new() };
        let mut bytes = first.bytes;
        let mut group = vec![first];
        while group.len() < self.limits.group_commits
            && bytes < self.limits.group_bytes
            && let Ok(request) = self.requests.try_recv()
        {
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

/// Lets every other task have its turn once.
async fn breathe() {
    let mut has_waited = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
