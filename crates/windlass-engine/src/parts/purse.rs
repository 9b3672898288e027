//! The purse that all who plan are paid from. What somebody may use is set aside when they begin, and what they have used is charged
//! when they end: so that many at once spend no more than there is, but for the one call that each has in flight.

use windlass_domain::graph::{GraphState, Node, PlanStanding, Standing};
use windlass_domain::plan::PlanBudget;
use windlass_domain::task::{TaskCreated, TaskState};
use windlass_domain::{Budget, Seq, TaskId, Usd};
use windlass_store::StreamId;

use crate::Error;
use crate::engine::Engine;

/// A planner that comes to nothing is not sent again: what it could not do once it is told in its one repair round.
const ATTEMPTS: u32 = 1;

/// What is left of it.
pub struct Purse {
    pub left: PlanBudget,
    /// Where those stood who could set something aside at the same moment.
    pub guards: Vec<(StreamId, Seq)>,
}

impl Purse {
    pub fn is_empty(&self) -> bool {
        self.left.max_tokens == 0 || self.left.max_cost_usd == Usd::ZERO
    }

    /// All of it, for one who plans; the rest is as the planned task has it.
    pub fn whole(&self, planned: &TaskCreated) -> Budget {
        let PlanBudget { max_tokens, max_cost_usd } = self.left;
        Budget { max_tokens, max_cost_usd, max_attempts: ATTEMPTS, ..planned.budget.clone() }
    }

    /// Half of it, so that others who ask meanwhile find something.
    pub fn half(&self, planned: &TaskCreated) -> Budget {
        let whole = self.whole(planned);
        Budget {
            max_tokens: whole.max_tokens.div_ceil(2),
            max_cost_usd: Usd::from_nanos(whole.max_cost_usd.as_nanos().div_ceil(2)),
            ..whole
        }
    }
}

fn without(left: &PlanBudget, (tokens, cost): (u64, Usd)) -> PlanBudget {
    let max_tokens = left.max_tokens.saturating_sub(tokens);
    PlanBudget { max_tokens, max_cost_usd: left.max_cost_usd.minus(cost) }
}

/// What one who plans or looks into something counts for: what it used, or, until that is known, all that it may.
fn counted(state: &TaskState) -> (u64, Usd) {
    if state.is_over() {
        let (used, cost) = state.used();
        return (used.total_tokens, cost);
    }
    let budget = state.created.as_ref().map(|created| &created.budget);
    budget.map(|budget| (budget.max_tokens, budget.max_cost_usd)).unwrap_or_default()
}

impl Engine {
    /// What `whole` holds beside what was charged and what is set aside, as `asker` finds it.
    pub(crate) async fn purse(&self, graph: &GraphState, whole: &PlanBudget, asker: TaskId) -> Result<Purse, Error> {
        let charged = (graph.planning.usage.total_tokens, graph.planning.cost);
        let mut purse = Purse { left: without(whole, charged), guards: Vec::new() };
        let mut at_work: Vec<TaskId> = graph.leaving.iter().copied().filter(|run| !graph.is_of_an_atom(*run)).collect();
        let splits = |node: &Node| match node.standing {
            Standing::Splitting(run) => Some(run),
            _ => None,
        };
        at_work.extend(graph.work.busy().filter_map(splits));
        at_work.extend(graph.seeking.iter().copied().filter(|run| !graph.leaving.contains(run)));
        if let PlanStanding::BeingWritten(planner) = graph.standing {
            at_work.push(planner);
        }
        for run in graph.running().into_iter().filter(|run| *run != asker && !at_work.contains(run)).collect::<Vec<_>>()
        {
            let item = self.task_journal(run).await?;
            at_work.extend(item.state.open_consult().map(|consult| consult.run));
            purse.guards.push((item.stream, item.head));
        }
        for run in at_work {
            let state = self.task(run).await?;
            // The bill of one that has ended is on its way in the same commit.
            if !state.is_over() {
                purse.left = without(&purse.left, counted(&state));
            }
        }
        Ok(purse)
    }

    /// What those count for who looked, or look, into something for this planner.
    pub(crate) async fn helpers(&self, planner: &TaskState) -> Result<(u64, Usd), Error> {
        let mut all = (0_u64, Usd::ZERO);
        for inquiry in &planner.inquiries {
            let (tokens, cost) = counted(&self.task(inquiry.run).await?);
            all = (all.0.saturating_add(tokens), all.1.plus(cost));
        }
        Ok(all)
    }

    /// What a planner that has spent so much may still have others use.
    pub(crate) async fn left_of_planner(&self, planner: &TaskState, spent: (u64, Usd)) -> Result<Purse, Error> {
        let budget = planner.created.as_ref().map(|created| created.budget.clone()).unwrap_or_default();
        let Budget { max_tokens, max_cost_usd, .. } = budget;
        let own = without(&PlanBudget { max_tokens, max_cost_usd }, spent);
        Ok(Purse { left: without(&own, self.helpers(planner).await?), guards: Vec::new() })
    }
}
