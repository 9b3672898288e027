//! What work has used until now, read from its records: of one who works, the attempt that is open included; of a planned task, all who
//! work for it. A question to a model that nobody has answered yet is not in it: what it costs is known when it is over.

use windlass_domain::execution::ExecutionState;
use windlass_domain::graph::Bill;
use windlass_domain::{Spent, TaskId, UsageMetrics};

use crate::Error;
use crate::attempt::Driven;
use crate::engine::Engine;
use crate::host::load;

/// In seed 000's terms.
pub(crate) fn in_metrics(state: &ExecutionState, spent: &Spent) -> UsageMetrics {
    UsageMetrics {
        total_tokens: spent.usage.total(),
        input_tokens: spent.usage.input,
        output_tokens: spent.usage.output,
        iterations: spent.iterations,
        tool_calls: state.tool_calls,
        sub_agents_spawned: state.sub_agents(),
        compactions: state.compactions.finished,
        duration_ms: spent.active_ms,
    }
}

impl Engine {
    /// Of one who works on something alone.
    pub async fn used_by(&self, task: TaskId) -> Result<Bill, Error> {
        let state = self.task(task).await?;
        let (usage, cost) = state.used();
        let unpriced = state.attempts.iter().filter_map(|attempt| attempt.ended.as_ref()).any(|ended| ended.unpriced);
        let mut bill = Bill { usage, cost, unpriced };
        if let Some(open) = state.open_attempt() {
            let shared = &self.shared;
            let execution = load(shared.store.as_ref(), &shared.tenant, open.execution_id).await?.state;
            let usage = in_metrics(&execution, &execution.spent);
            bill.add(Bill { usage, cost: execution.spent.cost, unpriced: execution.unpriced });
        }
        Ok(bill)
    }

    /// Of a planned task: those who rest or are at work, and have sent no bill, included.
    pub async fn used_for(&self, root: TaskId) -> Result<Bill, Error> {
        let graph = self.graph(root).await?;
        let mut bill = graph.spent();
        bill.add(graph.planning);
        for member in self.members(root).await?.into_iter().skip(1) {
            bill.add(self.used_by(member).await?);
        }
        Ok(bill)
    }

    /// What a planned task that comes to rest says of itself was written before all who work for it did.
    pub(crate) async fn with_all_that_was_used(&self, root: TaskId, mut driven: Driven) -> Result<Driven, Error> {
        if let Driven::Paused(result) | Driven::Waiting(result) = &mut driven {
            let used = self.used_for(root).await?;
            (result.usage, result.cost_usd) = (used.usage, (!used.unpriced).then_some(used.cost));
        }
        Ok(driven)
    }
}
