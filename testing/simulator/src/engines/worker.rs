//! The life of a worker process: what `windlass worker` does. One that comes to an error ends there and then, as the
//! command does, and somebody starts it again.

use std::sync::Arc;

use windlass_domain::Runtime as _;
use windlass_engine::{NobodyWatches, Watchers, WorkerOptions};
use windlass_store::{Commit, DeliveryChange, Error as StoreError, Store as _};

use crate::engines::EngineBug;
use crate::engines::history::EngineWhat;
use crate::engines::house::House;

/// Tasks of this machine are in a lane of their own.
const LANE: &str = "executor_queue@harbour";

pub async fn live(house: Arc<House>, number: u8) {
    let (scene, process) = (house.scene(), &house.process);
    scene.tell(process.id, EngineWhat::Started { worker: number });
    if scene.plan.bug == EngineBug::StartUpSteals {
        steal(&house).await;
    }
    let options = WorkerOptions { concurrency: usize::from(scene.plan.concurrency), ..WorkerOptions::default() };
    let watchers = Watchers::new(|_, _| Arc::new(NobodyWatches));
    match house.engine.work(options, watchers, house.fortune.leave.signal()).await {
        Ok(()) => close(&house).await,
        Err(error) => bear(&house, &error),
    }
}

async fn close(house: &House) {
    if let Err(error) = house.engine.close().await {
        bear(house, &error);
    }
}

fn bear(house: &House, error: &windlass_engine::Error) {
    let what = if is_full(error) { EngineWhat::GaveUp } else { EngineWhat::Broken };
    house.scene().tell(house.process.id, what(format!("a worker: {error}")));
}

fn is_full(error: &windlass_engine::Error) -> bool {
    use windlass_engine::Error;
    use windlass_store::queue::Error as QueueError;
    matches!(
        error,
        Error::Kept(_)
            | Error::Store(StoreError::DiskFull { .. })
            | Error::Queue(QueueError::Store(StoreError::DiskFull { .. }))
    )
}

/// What seed 001 §2.2 would do at start-up.
async fn steal(house: &House) {
    let leased = house.store.leased(LANE, 100).await.unwrap_or_default();
    for found in leased {
        let mut commit = Commit::unfenced(found.message.tenant, house.process.wall());
        commit.deliveries.push(DeliveryChange::Nack { delivery: found.delivery, not_before: None });
        // Whoever was quicker was quicker.
        let _ = house.store.commit(commit).await;
    }
}
