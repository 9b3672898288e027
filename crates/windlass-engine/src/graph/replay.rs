//! Bringing in again what stays of the work when some of it is taken out.

use windlass_domain::graph::{Merged, Replay};
use windlass_domain::plan::AtomId;
use windlass_domain::task::TaskCreated;
use windlass_domain::{CancelSignal, Merge, Stop, TreeId, WorkspaceError};

use crate::Error;
use crate::engine::Engine;

pub enum Replayed {
    Kept(Vec<Merged>),
    /// This one's work needs what is to go.
    Needs(AtomId),
}

impl Engine {
    /// None where it was told to stop.
    pub(crate) async fn replay(
        &self,
        created: &TaskCreated,
        Replay { from, later, .. }: Replay,
        signal: CancelSignal,
    ) -> Result<Option<Replayed>, Error> {
        let task = created.command.task_id;
        let broken = |detail: String| Error::Broken { task, detail };
        let mut tree: TreeId = from.ok_or_else(|| broken("the plan stands on nothing".to_owned()))?;
        let mut kept = Vec::new();
        for step in later {
            let workspace = self.shared.equipment.workspace(created.workspace.as_ref());
            let workspace = workspace.map_err(|error| broken(error.message))?;
            let signal = signal.clone();
            let merge =
                move || workspace.merge(step.before, tree, step.after, &|| signal.raised() == Some(Stop::Cancel));
            match self.shared.blocking(merge).await {
                Ok(Merge::Clean(merged)) => {
                    tree = merged;
                    kept.push(Merged { atom: step.atom, tip: merged });
                }
                Ok(Merge::Conflicts(_)) => return Ok(Some(Replayed::Needs(step.atom))),
                Err(WorkspaceError::Stopped) => return Ok(None),
                Err(error) => return Err(broken(error.to_string())),
            }
        }
        Ok(Some(Replayed::Kept(kept)))
    }
}
