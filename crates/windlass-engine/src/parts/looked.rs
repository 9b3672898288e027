//! What the end of those tells who only looked: whether an item can be done, and what smaller parts it has.

use windlass_domain::graph::{Bill, GraphAction, GraphState, ProbeEnded, ProbeReport, SplitEnded, fits};
use windlass_domain::plan::{AtomId, Item, Plan};
use windlass_domain::role_output::probe_report;
use windlass_domain::{BaseCase, Budget, Usd};

use super::told::{Telling, Told};
use crate::Error;
use crate::attempt::{PlannerSaid, no_other_way};
use crate::host::Rider;

impl Telling<'_> {
    pub(super) async fn probe(&self, atom: &AtomId, rider: &mut Rider) -> Result<Told, Error> {
        let mut graph = self.engine.graph_journal(self.of.root).await?;
        let (taint, _) = self.state.inherited();
        let report = match self.answer() {
            Ok(said) => probe_report(&said),
            // Nobody knows that it cannot be done.
            Err(error) => ProbeReport {
                feasible: true,
                findings: format!("nobody could look: {}", error.message),
                cost_estimate: None,
            },
        };
        let ended = ProbeEnded { atom: atom.clone(), run: self.run(), report, bill: self.used(), taint };
        self.write(&mut graph, rider, [GraphAction::EndProbe(ended)], taint)?;
        self.engine.wake_for(rider, self.of.root, None).await?;
        Ok(Told::Yes)
    }

    pub(super) async fn split(&self, atom: &AtomId, rider: &mut Rider) -> Result<Told, Error> {
        let mut graph = self.engine.graph_journal(self.of.root).await?;
        let (taint, _) = self.state.inherited();
        let created = self.state.created.as_ref().ok_or_else(|| self.broken("the planner was not created"))?;
        let (children, reason) = match self.answer() {
            Ok(said) => match self.engine.planner_said(&said, created).await? {
                PlannerSaid::Plan { written, response } => match parts(&graph.state, atom, written.plan) {
                    Ok(children) => (children, response.message),
                    Err(why) => (Vec::new(), why),
                },
                PlannerSaid::NoPlan(response) => (Vec::new(), response.message),
                PlannerSaid::NeedsResearch(_) => (Vec::new(), "it waits for research that nobody does".to_owned()),
                PlannerSaid::Repeated(repeated) => (Vec::new(), no_other_way(repeated).message),
                PlannerSaid::Unusable(why) => (Vec::new(), why),
            },
            Err(error) => (Vec::new(), error.message),
        };
        let ended = SplitEnded { atom: atom.clone(), run: self.run(), children, reason, bill: self.used(), taint };
        let mut actions = self.dismissed(rider).await?;
        actions.push(GraphAction::EndSplit(Box::new(ended)));
        self.write(&mut graph, rider, actions, taint)?;
        self.engine.wake_for(rider, self.of.root, None).await?;
        Ok(Told::Yes)
    }

    fn used(&self) -> Bill {
        Bill { usage: self.result.usage, cost: self.state.used().1, unpriced: self.result.cost_usd.is_none() }
    }
}

/// The parts of an item, done as it would have been and with what is left of it; or why they cannot be.
fn parts(graph: &GraphState, atom: &AtomId, Plan(root): Plan) -> Result<Vec<Item>, String> {
    let parent = graph.work.item(atom).ok_or("the item is gone")?;
    let (tokens, cost) = graph.left_of(parent);
    let number = root.tasks.len().max(1) as u64;
    let budget = Budget {
        max_tokens: tokens / number,
        max_cost_usd: Usd::from_nanos(cost.as_nanos() / number),
        max_wall_time_seconds: parent.budget.max_wall_time_seconds / number,
        ..parent.budget.clone()
    };
    let part = |child: Item| Item {
        agent: parent.agent.clone(),
        skills: parent.skills.clone(),
        gates: Vec::new(),
        interaction_mode: parent.interaction_mode,
        on_stuck: parent.on_stuck,
        on_failure: parent.on_failure,
        escalation: parent.escalation.clone(),
        budget: budget.clone(),
        verify: within(child.verify, &parent.verify),
        touches: if child.touches == Default::default() { parent.touches.clone() } else { child.touches },
        ..child
    };
    let children: Vec<Item> = root.tasks.into_iter().map(part).collect();
    fits(graph, atom, &children).map_err(|misfit| misfit.to_string())?;
    Ok(children)
}

/// Checks that nobody has seen take no longer than those of what they are for.
fn within(BaseCase(mut checks): BaseCase, BaseCase(of_parent): &BaseCase) -> BaseCase {
    let longest = of_parent.iter().map(|check| check.timeout_seconds).max();
    let longest = longest.unwrap_or(DEFAULT_CHECK_TIMEOUT);
    checks.iter_mut().for_each(|check| check.timeout_seconds = check.timeout_seconds.min(longest));
    BaseCase(checks)
}

/// Contracts §2.
const DEFAULT_CHECK_TIMEOUT: u64 = 600;
