//! Checking an item that holds others: its own checks, on the work of all of its parts.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::graph::{GraphAction, JoinChecked};
use windlass_domain::plan::AtomId;
use windlass_domain::{Taint, TreeId};

use super::pass::{GraphDriver, Made};
use crate::Error;
use crate::attempt::{Judged, Patience, Protection, Subject, Trouble, Verifier};
use crate::host::Rider;

impl GraphDriver {
    pub(super) async fn check_join(&mut self, atom: &AtomId, tip: TreeId) -> Result<Made, Error> {
        let judged = match self.judge(atom, tip).await? {
            Ok(judged) => judged,
            // Heeded by whoever looks next.
            Err(Trouble::Stopped(_)) => return Ok(Made::Overtaken),
            Err(Trouble::Unable(error)) => {
                let reason = error.message.clone();
                return self.rest(reason, Some(error), Rider::default()).await;
            }
            Err(Trouble::Unfit(why)) => return Err(self.broken(why)),
        };
        let checked = JoinChecked { atom: atom.clone(), tip, results: judged.results };
        let mut rider = Rider { blobs: judged.outputs, ..Rider::default() };
        self.ride(&mut rider, [GraphAction::CheckJoin(checked)], Taint::External)?;
        self.commit(rider, Vec::new()).await
    }

    async fn judge(&self, atom: &AtomId, tip: TreeId) -> Result<Result<Judged, Trouble>, Error> {
        let shared = &self.engine.shared;
        let created = self.created()?;
        let item = self.graph.state.work.item(atom);
        let item = item.ok_or_else(|| self.broken(format!("the plan has no item {atom}")))?;
        let baseline = self.graph.state.base.ok_or_else(|| self.broken("the plan stands on nothing"))?;
        let workspace = match shared.equipment.workspace(created.workspace.as_ref()) {
            Ok(workspace) => workspace,
            Err(error) => return Ok(Err(error.into())),
        };
        let time = Duration::from_secs(item.budget.max_wall_time_seconds);
        let verifier = Verifier {
            engine: self.engine.clone(),
            task: self.task,
            sandbox: created.sandbox.clone(),
            checks: item.verify.clone(),
            workspace,
            cancel: self.canceller.signal(),
            patience: Patience::new(self.canceller.signal(), Arc::clone(&shared.runtime), time),
        };
        let protection = Protection::under(&self.graph.state).unwrap_or_else(|| Protection::of(baseline));
        Ok(verifier.judge(Subject { tree: tip, baseline, protection, new_repositories: Vec::new() }).await)
    }
}
