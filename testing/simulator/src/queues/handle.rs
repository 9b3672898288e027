//! Handling one message: the work, which takes time and may fail; the effect outside; and the commit that says so, acks the
//! message and enqueues what follows.

use std::sync::Arc;

use windlass_domain::queue::QueueMessage;
use windlass_domain::{MessageId, Runtime as _, Taint, TraceId};
use windlass_store::queue::{Error, Leased, enqueue, follow, mark_processed};
use windlass_store::{Commit, Error as StoreError, Store as _};

use crate::queues::errand::Errand;
use crate::queues::plan::Work;
use crate::queues::worker::Worker;
use crate::queues::{Bug, What};

pub async fn handle(worker: &Arc<Worker>, mut leased: Leased) {
    let Ok(errand) = leased.message.content.parse::<Errand>() else {
        return worker.process.tell(What::Broken(format!("{:?} is nobody's errand", leased.message.content)));
    };
    let work = worker.process.scene.request(errand.request).works[usize::from(errand.step)];
    worker.process.sleep(work.length).await;
    if leased.attempt <= u32::from(work.failures) {
        return give_back(worker, &leased).await;
    }
    // No other process can do anything between this look and the effect.
    if worker.process.bug() != Bug::Blind && worker.desk().heartbeat(&mut leased).await.is_err() {
        return;
    }
    worker.process.tell(What::Performed(leased.delivery));
    finish(worker, &leased, errand, work).await;
}

async fn give_back(worker: &Worker, leased: &Leased) {
    while let Err(error) = worker.desk().nack(leased, "it did not work").await {
        if !goes_on(worker, error).await {
            return;
        }
    }
}

/// Whether to try again.
async fn goes_on(worker: &Worker, error: Error) -> bool {
    match error {
        // It is another's, or was done.
        Error::Store(StoreError::StaleDelivery { .. } | StoreError::Duplicate { .. }) => false,
        error => {
            worker.bear(error).await;
            true
        }
    }
}

async fn finish(worker: &Worker, leased: &Leased, errand: Errand, work: Work) {
    match worker.process.bug() {
        Bug::AckBeforeCommit => {
            if ack(worker, leased, worker.empty(leased)).await {
                let mut effects = worker.empty(leased);
                add_effect(worker, &mut effects, leased, errand, work);
                add_next(worker, &mut effects, leased, errand, work);
                let _ = worker.store.commit(effects).await;
            }
        }
        Bug::EnqueueOutside => {
            let (mut effects, mut next) = (worker.empty(leased), worker.empty(leased));
            add_effect(worker, &mut effects, leased, errand, work);
            add_next(worker, &mut next, leased, errand, work);
            if ack(worker, leased, effects).await {
                let _ = worker.store.commit(next).await;
            }
        }
        _ => {
            let mut effects = worker.empty(leased);
            add_effect(worker, &mut effects, leased, errand, work);
            add_next(worker, &mut effects, leased, errand, work);
            ack(worker, leased, effects).await;
        }
    }
}

async fn ack(worker: &Worker, leased: &Leased, effects: Commit) -> bool {
    while let Err(error) = worker.desk().ack(leased, effects.clone()).await {
        if !goes_on(worker, error).await {
            return false;
        }
    }
    true
}

fn add_effect(worker: &Worker, effects: &mut Commit, leased: &Leased, errand: Errand, work: Work) {
    mark_processed(effects, "simulated", leased.message.message_id);
    effects.events.push(errand.effect(taint_after(leased, work), worker.process.wall()));
}

/// What the work read is in what it wrote.
fn taint_after(leased: &Leased, work: Work) -> Taint {
    let read = if work.reads_external { Taint::External } else { Taint::Owner };
    leased.message.taint.join(read)
}

fn add_next(worker: &Worker, effects: &mut Commit, leased: &Leased, errand: Errand, work: Work) {
    let process = &worker.process;
    let next = errand.next();
    if usize::from(next.step) >= process.scene.request(errand.request).works.len() {
        return;
    }
    let (from, queue) = next.route();
    let (now, id) = (process.wall(), MessageId::new(process.wall(), process.random()));
    let message = leased.message.followed_by(id, from, next.to_string(), now);
    let message = QueueMessage { taint: taint_after(leased, work), urgency: leased.message.urgency, ..message };
    let added = match process.bug() {
        Bug::TaintDropped => enqueue(effects, queue, &QueueMessage { taint: Taint::Owner, ..message }),
        Bug::TraceLost => {
            let trace_id = TraceId::new(now, process.random());
            enqueue(effects, queue, &QueueMessage { trace_id, ..message })
        }
        _ => follow(effects, &leased.message, queue, &message),
    };
    if let Err(error) = added {
        process.tell(What::Broken(format!("enqueueing: {error}")));
    }
}

impl Worker {
    fn empty(&self, leased: &Leased) -> Commit {
        Commit::unfenced(leased.message.scope_id.clone(), self.process.wall())
    }
}
