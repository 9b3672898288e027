//! Folders of tasks that are over: a crash came between the commit that ended the work and their removal. They are looked for
//! when a process first works for a tenant, and when a plan ends. A task that this tenant does not know may be another's, and
//! its folder stays. Homes of agents that are programs of their own go later: their conversations may be wanted again. A process that
//! lives for long looks for those again and again, for every tenant.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::TaskId;

use super::places::Worktrees;
use crate::Error;
use crate::engine::Engine;
use crate::host::load;

/// After its agent was last started.
const KEEP_HOMES: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl Engine {
    /// Once in the life of a process.
    pub(crate) async fn sweep_worktrees_once(&self) -> Result<(), Error> {
        if !self.shared.is_first_sweep(&self.shared.tenant) {
            return Ok(());
        }
        self.sweep_worktrees().await?;
        self.sweep_homes().await
    }

    /// Those of every tenant.
    pub(crate) async fn sweep_all_homes(&self) -> Result<(), Error> {
        for tenant in self.shared.store.tenants().await? {
            self.for_tenant(tenant).sweep_homes().await?;
        }
        Ok(())
    }

    /// One whose execution may still go on stays, and so does one that this tenant does not know.
    async fn sweep_homes(&self) -> Result<(), Error> {
        let shared = &self.shared;
        let equipment = Arc::clone(&shared.equipment);
        for execution in shared.blocking(move || equipment.homes_unused_for(KEEP_HOMES)).await {
            if load(shared.store.as_ref(), &shared.tenant, execution).await?.state.lifecycle.is_over() {
                let equipment = Arc::clone(&shared.equipment);
                shared.blocking(move || equipment.remove_home(execution)).await;
            }
        }
        Ok(())
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
