//! Having an item worked on: a task of its own, made of the plan word for word.

use windlass_domain::Taint;
use windlass_domain::graph::{AtomStarted, GraphAction};
use windlass_domain::plan::AtomId;

use super::pass::{GraphDriver, Made};
use crate::Error;
use crate::host::Rider;
use crate::parts::Work;

impl GraphDriver {
    pub(super) async fn start_atom(&mut self, atom: &AtomId) -> Result<Made, Error> {
        let work = Work::atom(self.task, &self.graph.state, atom, None);
        let work = work.ok_or_else(|| self.broken(format!("the plan has no item {atom}")))?;
        let created = self.created()?.clone();
        let mut rider = Rider::default();
        let run = self.engine.take_part(&mut rider, &created, work)?;
        self.ride(&mut rider, [GraphAction::StartAtom(AtomStarted { atom: atom.clone(), run })], Taint::Auth)?;
        self.commit(rider, Vec::new()).await
    }
}
