//! Going back to a turn and taking another way: the work of the way that failed, and of all that rests on it, is taken out of the
//! work of all. Where something that would stay cannot be had without it, that goes as well and is done again.

use windlass_domain::Taint;
use windlass_domain::graph::{GraphAction, SinksReopened, Switch};
use windlass_domain::plan::AtomId;

use super::pass::{GraphDriver, Made};
use super::replay::Replayed;
use crate::Error;
use crate::host::Rider;

impl GraphDriver {
    pub(super) async fn switch(&mut self, group: AtomId, failed: AtomId, because: String) -> Result<Made, Error> {
        let mut also = Vec::new();
        let kept = loop {
            let signal = self.canceller.signal();
            let replay = self.graph.state.without(&group, &failed, &also);
            match self.engine.replay(self.created()?, replay, signal).await? {
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

    /// What decides what the whole comes to goes on, and is told what failed.
    pub(super) async fn reopen(&mut self, holder: AtomId, sinks: Vec<AtomId>) -> Result<Made, Error> {
        let failed = self.graph.state.failed_checks(&holder);
        let because = match sinks.as_slice() {
            [same] if *same == holder => {
                format!("This was done, and its checks fail since others have done their work:\n{failed}")
            }
            _ => format!("All items of {holder} are done, but its own checks fail on the work of all:\n{failed}"),
        };
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
