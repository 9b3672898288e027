//! The life of a worker process: it registers as an owner, consumes from every queue, looks after messages whose holder is
//! gone, and its heart beats until it is told to leave.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{OwnerId, Runtime as _};
use windlass_store::owner::{NewOwner, beat, register, retire};
use windlass_store::queue::{Desk, Queue, Silent};
use windlass_store::{Commit, DeliveryChange, Error, Owner, Store as _};

use crate::queues::approvals::race;
use crate::queues::consume::{consume, watch};
use crate::queues::process::{QueueProcess, QueueStore};
use crate::queues::scene::AGAIN;
use crate::queues::{Act, Bug, What};

pub const QUEUES: [Queue; 2] = [Queue::Proxy, Queue::Planner];

/// How long a heart may be silent.
pub const TIME_TO_LIVE: Duration = Duration::from_secs(3);

/// Fewer than in the product, so that more letters die before a history is over.
const MAX_DELIVERIES: u32 = 3;

pub struct Worker {
    pub process: Arc<QueueProcess>,
    pub store: Arc<QueueStore>,
    pub owner: Owner,
}

/// Which life of the worker it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    First,
    Another,
    /// The same owner again.
    Again(OwnerId),
}

pub async fn live(process: Arc<QueueProcess>, number: u8, life: Life) {
    let store = process.store();
    let id = match life {
        Life::Again(owner) => owner,
        Life::First | Life::Another => OwnerId::new(process.wall(), process.random()),
    };
    let owner = enter(&process, &store, number, id).await;
    let worker = Arc::new(Worker { process: Arc::clone(&process), store, owner });
    process.scene.set_owner(number, id);
    process.tell(What::Started { worker: number, owner: id });
    if worker.process.bug() == Bug::StartUpSteals {
        worker.steal().await;
    }
    for queue in QUEUES {
        process.spawn(Box::pin(consume(Arc::clone(&worker), queue)));
    }
    process.spawn(Box::pin(watch(Arc::clone(&worker))));
    if life == Life::First {
        start_racers(&worker, number);
    }
    worker.beat_until_told_to_leave().await;
}

async fn enter(process: &Arc<QueueProcess>, store: &QueueStore, number: u8, id: OwnerId) -> Owner {
    loop {
        let new = NewOwner {
            id,
            host: format!("host-{number}"),
            boot_id: "boot".into(),
            pid: process.id.0 + 1,
            level: windlass_domain::JOURNAL_LEVEL,
        };
        match register(store, new, process.wall()).await {
            Ok(owner) => return owner,
            Err(Error::DiskFull { .. }) => process.sleep(AGAIN).await,
            Err(error) => process.tell(What::Broken(format!("registering: {error}"))),
        }
    }
}

fn start_racers(worker: &Arc<Worker>, number: u8) {
    for act in &worker.process.scene.plan.acts {
        if let Act::Races { token, worker: whose, at } = *act
            && whose == number
        {
            worker.process.spawn(Box::pin(race(Arc::clone(worker), token, at)));
        }
    }
}

impl Worker {
    pub fn desk(&self) -> Desk<'_> {
        let desk = Desk::new(&*self.store, &*self.process, &Silent);
        Desk { max_deliveries: MAX_DELIVERIES, ..desk }
    }

    /// Three beats in a time to live: one may be late.
    async fn beat_until_told_to_leave(&self) {
        loop {
            self.process.sleep(TIME_TO_LIVE / 3).await;
            if self.process.is_leaving() {
                return self.leave().await;
            }
            // A beat that finds no room is a beat that is late.
            match beat(&*self.store, self.owner, self.process.wall()).await {
                Ok(()) | Err(Error::DiskFull { .. }) => {}
                Err(error) => self.process.tell(What::Broken(format!("beating: {error}"))),
            }
        }
    }

    async fn leave(&self) {
        while retire(&*self.store, self.owner, self.process.wall()).await.is_err() {
            self.process.sleep(AGAIN).await;
        }
    }

    /// What seed 001 §2.2 would do at start-up.
    async fn steal(&self) {
        for queue in QUEUES {
            let leased = self.store.leased(queue.name(), 100).await.unwrap_or_default();
            for found in leased {
                let mut commit = Commit::unfenced(found.message.tenant, self.process.wall());
                commit.deliveries.push(DeliveryChange::Nack { delivery: found.delivery, not_before: None });
                // Whoever was quicker was quicker.
                let _ = self.store.commit(commit).await;
            }
        }
    }
}
