//! Going back to a turn and taking another way: the work of the way that failed, and of all that rests on it, is taken out of the
//! work of all. Where something that would stay cannot be had without it, that goes as well and is done again.

use windlass_domain::graph::{GraphAction, Merged, Replay, SinksReopened, Switch};
use windlass_domain::plan::AtomId;
use windlass_domain::{Merge, Stop, Taint, TreeId, WorkspaceError};

use super::pass::{GraphDriver, Made};
use crate::Error;
use crate::host::Rider;

/// What came of bringing in again what stays.
enum Replayed {
    Kept(Vec<Merged>),
    /// This one's work needs what is to go.
    Needs(AtomId),
}

impl GraphDriver {
    pub(super) async fn switch(&mut self, group: AtomId, failed: AtomId, because: String) -> Result<Made, Error> {
        let mut also = Vec::new();
        let kept = loop {
            match self.replay(self.graph.state.without(&group, &failed, &also)).await? {
                None => return Ok(Made::Overtaken),
                Some(Replayed::Kept(kept)) => break kept,
                Some(Replayed::Needs(atom)) => also.push(atom),
            }
        };
        let falls = self.graph.state.without(&group, &failed, &also).falls();
        if let Some(tip) = self.graph.state.tip.filter(|_| falls) {
            // What goes was done and checked: whoever wants it finds it.
            Box::pin(self.show(&format!("before-{failed}-was-given-up"), tip)).await;
        }
        let mut rider = Rider::default();
        let affected = self.graph.state.work.affected(&group, &failed, &also);
        let runs = affected.iter().filter_map(|node| node.standing.run()).collect();
        self.engine.dismiss(&mut rider, runs).await?;
        let switch = Switch { group, failed, because, also, kept };
        // Why it failed was told by checks and agents, and may quote anything.
        self.ride(&mut rider, [GraphAction::Switch(switch)], Taint::External)?;
        self.commit(rider, Vec::new()).await
    }

    /// None where it was told to stop.
    async fn replay(&self, Replay { from, later, .. }: Replay) -> Result<Option<Replayed>, Error> {
        let shared = &self.engine.shared;
        let mut tree: TreeId = from.ok_or_else(|| self.broken("the plan stands on nothing"))?;
        let mut kept = Vec::new();
        for step in later {
            let workspace = shared.equipment.workspace(self.created()?.workspace.as_ref());
            let workspace = workspace.map_err(|error| self.broken(error.message))?;
            let signal = self.canceller.signal();
            let merge =
                move || workspace.merge(step.before, tree, step.after, &|| signal.raised() == Some(Stop::Cancel));
            match shared.blocking(merge).await {
                Ok(Merge::Clean(merged)) => {
                    tree = merged;
                    kept.push(Merged { atom: step.atom, tip: merged });
                }
                Ok(Merge::Conflicts(_)) => return Ok(Some(Replayed::Needs(step.atom))),
                Err(WorkspaceError::Stopped) => return Ok(None),
                Err(error) => return Err(self.broken(error)),
            }
        }
        Ok(Some(Replayed::Kept(kept)))
    }

    /// What decides what the whole comes to goes on, and is told what failed.
    pub(super) async fn reopen(&mut self, holder: AtomId, sinks: Vec<AtomId>) -> Result<Made, Error> {
        let failed = self.graph.state.failed_checks(&holder);
        let because = format!("All items of {holder} are done, but its own checks fail on the work of all:\n{failed}");
        let mut rider = Rider::default();
        let reopened = SinksReopened { holder, sinks, because };
        self.ride(&mut rider, [GraphAction::Reopen(reopened)], Taint::External)?;
        self.commit(rider, Vec::new()).await
    }

    /// It is reached: whoever is still at work may stop.
    pub(super) async fn dismiss_all(&mut self) -> Result<Made, Error> {
        let mut rider = Rider::default();
        let runs = self.engine.dismiss(&mut rider, self.graph.state.running()).await?;
        self.ride(&mut rider, [GraphAction::Dismiss { runs }], Taint::Auth)?;
        self.commit(rider, Vec::new()).await
    }
}
