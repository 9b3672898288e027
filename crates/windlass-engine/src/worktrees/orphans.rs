//! Folders of tasks that are over: a crash came between the commit that ended the work and their removal. They are looked for
//! when a process first works for a tenant, and when a plan ends. A task that this tenant does not know may be another's, and
//! its folder stays.

use std::collections::BTreeSet;

use windlass_domain::TaskId;

use super::places::Worktrees;
use crate::Error;
use crate::engine::Engine;

impl Engine {
    /// Once in the life of a process.
    pub(crate) async fn sweep_worktrees_once(&self) -> Result<(), Error> {
        if self.shared.is_first_sweep(&self.shared.tenant) { self.sweep_worktrees().await } else { Ok(()) }
    }

    pub(crate) async fn sweep_worktrees(&self) -> Result<(), Error> {
        let worktrees = Worktrees::new(&self.shared.data_dir);
        let found = worktrees.clone();
        // What cannot be listed or removed now is somebody's later: nothing depends on it but space on the disk.
        let tasks = self.shared.blocking(move || found.tasks()).await.unwrap_or_default();
        let mut over = BTreeSet::new();
        for task in tasks {
            match self.task(task).await {
                Ok(state) if state.is_over() => drop(over.insert(task)),
                Ok(_) | Err(Error::NoSuchTask(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let sweep = move || worktrees.sweep(|task: TaskId| !over.contains(&task));
        let _swept = self.shared.blocking(sweep).await;
        Ok(())
    }
}
