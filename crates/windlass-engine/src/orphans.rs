//! Folders that nobody needs any more: a crash came between the end of a task and the removal of its worktrees. Whoever starts to
//! work sweeps them up.

use std::collections::BTreeSet;

use windlass_domain::TaskId;

use crate::Error;
use crate::engine::Engine;
use crate::worktrees::Worktrees;

impl Engine {
    /// Removes the worktrees of tasks that are over. Those of tasks that this process cannot find stay: they may be another
    /// tenant's.
    pub(crate) async fn sweep_worktrees(&self) -> Result<(), Error> {
        let worktrees = Worktrees::new(&self.shared.data_dir);
        let found = worktrees.clone();
        let Ok(tasks) = self.shared.blocking(move || found.tasks()).await else { return Ok(()) };
        let mut over = BTreeSet::new();
        for task in tasks {
            if self.is_known_to_be_over(task).await? {
                over.insert(task);
            }
        }
        // What cannot be removed now is found again.
        let _swept = self.shared.blocking(move || worktrees.sweep(|task| !over.contains(&task))).await;
        Ok(())
    }

    async fn is_known_to_be_over(&self, task: TaskId) -> Result<bool, Error> {
        match self.task(task).await {
            Ok(state) => Ok(state.is_over()),
            Err(Error::NoSuchTask(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
