//! What befalls one process of the world of engines, as the plan has it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass_domain::{Canceller, Stop};

use crate::engines::history::EngineWhat;
use crate::engines::scene::Scene;
use crate::executor::ProcessId;
use crate::fuse::{Fate, Fortune, Point};
use crate::queues::Blow;

pub struct Misfortune {
    pub scene: Arc<Scene>,
    /// `None`: it is no worker, and nothing befalls it.
    pub worker: Option<u8>,
    /// By which it is told to leave.
    pub leave: Canceller,
    pub disk_is_full: AtomicBool,
}

impl Misfortune {
    pub fn new(scene: &Arc<Scene>, worker: Option<u8>) -> Arc<Self> {
        let (leave, disk_is_full) = (Canceller::default(), AtomicBool::new(false));
        Arc::new(Self { scene: Arc::clone(scene), worker, leave, disk_is_full })
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
            Blow::DiskFull => self.disk_is_full.store(true, Ordering::Relaxed),
            Blow::Leaves => self.leave.stop(Stop::Pause),
        }
        None
    }

    fn wrong_by(&self) -> i64 {
        self.scene.wrong_by(self.worker)
    }
}
