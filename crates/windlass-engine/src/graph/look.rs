//! Having somebody look before anything is done: whether an item can be done at all, and what smaller parts it has. Both are tasks of
//! their own with tools that change nothing.

use windlass_domain::graph::{GraphAction, ProbeStarted, SplitStarted};
use windlass_domain::plan::{AtomId, Item};
use windlass_domain::task::{Part, PartOf};
use windlass_domain::{BaseCase, Budget, Role, Taint};

use super::pass::{GraphDriver, Made};
use crate::Error;
use crate::filled::filled;
use crate::host::Rider;
use crate::parts::Work;

const PROBE: &str = include_str!("../../../../prompts/plan/probe.md");
const SPLIT: &str = include_str!("../../../../prompts/plan/split.md");

impl GraphDriver {
    /// Whether it can be done, at the item's own expense.
    pub(super) async fn probe(&mut self, atom: AtomId, choice: Option<AtomId>) -> Result<Made, Error> {
        let item = self.item(&atom)?.clone();
        let progress = self.graph.state.progress(&atom).cloned().unwrap_or_default();
        let work = Work {
            part_of: self.part(Part::Probe { atom: atom.clone() }),
            role: Role::Probe,
            agent_id: "probe".to_owned(),
            goal: filled(PROBE, &[("item", &self.told_of(&atom))]),
            checks: BaseCase(Vec::new()),
            budget: Budget { max_attempts: 1, ..progress.budget(&item, None) },
        };
        let created = self.created()?.clone();
        let mut rider = Rider::default();
        let run = self.engine.take_part(&mut rider, &created, work)?;
        let started = ProbeStarted { atom, run, choice };
        self.ride(&mut rider, [GraphAction::StartProbe(started)], Taint::Auth)?;
        self.commit(rider, Vec::new()).await
    }

    /// What smaller parts it has, at the plan's expense.
    pub(super) async fn split(&mut self, atom: AtomId, because: String) -> Result<Made, Error> {
        let created = self.created()?.clone();
        let work = Work {
            part_of: self.part(Part::Split { atom: atom.clone() }),
            role: Role::Planner,
            agent_id: "planner".to_owned(),
            goal: filled(SPLIT, &[("item", &self.told_of(&atom)), ("because", &because)]),
            checks: BaseCase(Vec::new()),
            budget: self.planning_left(&created).await?,
        };
        let mut rider = Rider::default();
        let run = self.engine.take_part(&mut rider, &created, work)?;
        self.ride(&mut rider, [GraphAction::StartSplit(SplitStarted { atom, run })], Taint::External)?;
        self.commit(rider, Vec::new()).await
    }

    const fn part(&self, part: Part) -> PartOf {
        PartOf { task: self.task, root: self.task, part }
    }

    fn item(&self, atom: &AtomId) -> Result<&Item, Error> {
        self.graph.state.work.item(atom).ok_or_else(|| self.broken(format!("the plan has no item {atom}")))
    }

    fn told_of(&self, atom: &AtomId) -> String {
        self.graph.state.work.told(atom).unwrap_or_default()
    }
}
