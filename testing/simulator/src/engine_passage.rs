//! How a process of the engine's world comes to the store: past its fuse, and with its commits entered in the log.

use windlass_domain::BoxFuture;
use windlass_store::{Commit, Committed, Reply, Store};

use crate::commit_log::{CommitLog, LoggedCommit};
use crate::fuse::Point;
use crate::plant::Plant;
use crate::process::Process;
use crate::store::Passage;

pub struct EnginePassage {
    pub process: Process,
    pub log: CommitLog,
    pub plant: Plant,
}

impl Passage for EnginePassage {
    fn pass(&self, point: Point) -> BoxFuture<'_, ()> {
        Box::pin(self.process.pass(point))
    }

    /// The commit and its entry in the log are one: in memory the store answers at once.
    fn write<'a>(&'a self, store: &'a dyn Store, mut commit: Commit) -> Reply<'a, Committed> {
        Box::pin(async move {
            let mut logged = LoggedCommit::new(self.process.id, &commit);
            if !logged.rows.is_empty() && self.plant.swallows(self.log.with_events() + 1) {
                self.log.enter(logged);
                return Ok(Committed::default());
            }
            self.plant.spoil(&mut commit);
            let committed = store.commit(commit).await?;
            self.process.simulation.note_change();
            logged.taken.clone_from(&committed.leases);
            self.log.enter(logged);
            Ok(committed)
        })
    }
}
