//! What befalls one process of the world of engines, as the plan has it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windlass_domain::{Canceller, Stop};

use crate::engines::history::EngineWhat;
use crate::engines::scene::Scene;
use crate::executor::ProcessId;
use crate::fuse::{Fate, Fortune, Point};
use crate::queues::Blow;

/// How long a disk is full: for several commits in a row.
const FULL_FOR: Duration = Duration::from_millis(700);

pub struct Misfortune {
    pub scene: Arc<Scene>,
    /// `None`: it is no worker, and nothing befalls it.
    pub worker: Option<u8>,
    /// By which it is told to leave.
    pub leave: Canceller,
    /// On the world's clock.
    full_until: Mutex<Duration>,
}

impl Misfortune {
    pub fn new(scene: &Arc<Scene>, worker: Option<u8>) -> Arc<Self> {
        let (leave, full_until) = (Canceller::default(), Mutex::default());
        Arc::new(Self { scene: Arc::clone(scene), worker, leave, full_until })
    }

    fn full_until(&self) -> MutexGuard<'_, Duration> {
        self.full_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_disk_full(&self) -> bool {
        self.scene.simulation.now() < *self.full_until()
    }
}

impl Fortune for Misfortune {
    fn count(&self, process: ProcessId, point: Point, _: u64) -> Option<Fate> {
        let blow = self.scene.count(process, self.worker, point)?;
        if let Some(worker) = self.worker {
            self.scene.tell(process, EngineWhat::Suffered { worker, blow, point });
        }
        match blow {
            Blow::Dies { .. } => return Some(Fate::Dies),
            Blow::Stops(length) => return Some(Fate::Stalls(length)),
            Blow::Freezes(length) => return Some(Fate::Freezes(length)),
            Blow::DiskFull => *self.full_until() = self.scene.simulation.now() + FULL_FOR,
            Blow::Leaves => self.leave.stop(Stop::Pause),
        }
        None
    }

    fn wrong_by(&self) -> i64 {
        self.scene.wrong_by(self.worker)
    }
}
