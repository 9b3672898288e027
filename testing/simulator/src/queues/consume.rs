//! Taking messages: from the head of a queue, and from the hands of the dead.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::Runtime as _;
use windlass_store::owner::{Observer, Witness};
use windlass_store::queue::{Consumer, Error, Queue, TakenOver};
use windlass_store::{Error as StoreError, Store as _, Topic};

use crate::queues::handle::handle;
use crate::queues::scene::AGAIN;
use crate::queues::worker::{QUEUES, TIME_TO_LIVE, Worker};
use crate::queues::{Bug, What};

/// How long a consumer that found nothing waits for a hint before it looks again.
const IDLE: Duration = Duration::from_secs(1);
/// How often the living look after the dead: twice in the second within which an expired lease is to be taken.
const TICK: Duration = Duration::from_millis(400);
const FOR_EVER: Duration = Duration::from_hours(24);

pub async fn consume(worker: Arc<Worker>, queue: Queue) {
    let mut consumer = Consumer::new(queue, worker.owner.id);
    let notifier = worker.store.notifier();
    let topic = || Topic::Queue { queue: queue.name().to_owned() };
    let patience = if worker.process.bug() == Bug::WakeLost { FOR_EVER } else { IDLE };
    loop {
        let mut hints = notifier.subscribe(topic());
        match worker.desk().lease(&mut consumer).await {
            Ok(Some(leased)) => handle(&worker, leased).await,
            Ok(None) => {
                if worker.process.bug() == Bug::WakeLost {
                    hints = notifier.subscribe(topic());
                }
                hints.changed(patience).await;
            }
            Err(error) => worker.bear(error).await,
        }
    }
}

pub async fn watch(worker: Arc<Worker>) {
    let (silence, tick) = match worker.process.bug() {
        Bug::Impatient => (TIME_TO_LIVE / 4, TICK),
        Bug::Negligent => (TIME_TO_LIVE, TICK * 12),
        _ => (TIME_TO_LIVE, TICK),
    };
    let mut witness = Witness::by_heartbeat(Observer::new(silence));
    let mut consumers = QUEUES.map(|queue| Consumer::new(queue, worker.owner.id));
    loop {
        worker.process.sleep(tick).await;
        for consumer in &mut consumers {
            take_all(&worker, consumer, &mut witness).await;
        }
    }
}

/// Whoever watches does not work: what was taken over is somebody else's task.
async fn take_all(worker: &Arc<Worker>, consumer: &mut Consumer, witness: &mut Witness) {
    loop {
        match worker.desk().take_over(consumer, witness).await {
            Ok(TakenOver::Message(leased)) => {
                let worker = Arc::clone(worker);
                worker.process.clone().spawn(Box::pin(async move { handle(&worker, *leased).await }));
            }
            Ok(TakenOver::Nothing) => return,
            Err(error) => return worker.bear(error).await,
        }
    }
}

impl Worker {
    /// A full disk is waited for. Whose owner is gone has nothing to do here any more.
    pub async fn bear(&self, error: Error) {
        match error {
            Error::Store(StoreError::DiskFull { .. }) => self.process.sleep(AGAIN).await,
            Error::Store(StoreError::Gone { .. }) if self.process.is_leaving() => std::future::pending().await,
            error => {
                self.process.tell(What::Broken(error.to_string()));
                std::future::pending::<()>().await;
            }
        }
    }
}
