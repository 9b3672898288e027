//! How an execution stands, for whoever only looks. What looking needs of it is remembered; a busy one is not folded anew each time.

use windlass_domain::execution::{Activity, Attention, ExecutionEvent, ExecutionState, Lifecycle};
use windlass_domain::{ExecutionId, Message, Scope, Usd, Wall};
use windlass_store::StreamId;

use crate::Error;
use crate::engine::Engine;
use crate::read::Mark;

/// As it stood when somebody last looked.
#[derive(Default)]
pub(crate) struct KeptExecution {
    state: ExecutionState,
    mark: Mark,
}

#[derive(Debug, Clone)]
pub struct ExecutionStanding {
    pub lifecycle: Lifecycle,
    pub activity: Activity,
    pub attention: Attention,
    pub agent_id: Option<String>,
    pub model: Option<String>,
    pub scope: Option<Scope>,
    /// For whom it works, where another agent or a judge's question made it.
    pub parent: Option<ExecutionId>,
    pub began_at: Option<Wall>,
    /// Of its last record.
    pub last_at: Wall,
    pub tokens: u64,
    /// None where an answer's price was not known.
    pub cost: Option<Usd>,
    /// How many records its journal has.
    pub records: u64,
}

impl Engine {
    pub async fn execution(&self, execution: ExecutionId) -> Result<ExecutionStanding, Error> {
        let stream = StreamId::new("execution", execution);
        let mut known = self.shared.executions.hold((self.shared.tenant.clone(), execution)).await;
        loop {
            let Some((rows, is_last)) = self.rows_since(&stream, known.mark).await? else {
                *known = KeptExecution::default();
                continue;
            };
            for row in rows {
                known.state.apply(&ExecutionEvent::decode(&row.kind, row.version, &row.data)?, row.at);
                known.mark = Mark::of(&row);
            }
            if is_last {
                break;
            }
        }
        if known.mark == Mark::default() {
            return Err(Error::NoSuchExecution(execution));
        }
        let header = known.state.header.as_deref();
        Ok(ExecutionStanding {
            lifecycle: known.state.lifecycle,
            activity: known.state.activity(),
            attention: known.state.attention(),
            agent_id: header.map(|header| header.agent_id.clone()),
            model: header.map(|header| header.model.clone()),
            scope: header.map(|header| header.scope.clone()),
            parent: header.and_then(|header| header.parent.as_ref()).map(|parent| parent.execution_id),
            began_at: known.state.started_at(),
            last_at: known.state.last_at(),
            tokens: known.state.spent.usage.total(),
            cost: (!known.state.unpriced).then_some(known.state.spent.cost),
            records: known.mark.seq.0,
        })
    }
}

/// About what it takes in memory: nearly all of it is the conversation.
pub fn execution_weight(kept: &KeptExecution) -> usize {
    const ROW: usize = 256;
    let state = &kept.state;
    let message = |message: &Message| match message {
        Message::User { text, .. } => text.len(),
        Message::Assistant { text, calls, reasoning } => {
            let calls = calls.iter().map(|call| ROW + call.arguments.get().len());
            let reasoning = reasoning.iter().map(|thought| ROW + thought.content.get().len());
            text.len() + calls.chain(reasoning).sum::<usize>()
        }
        Message::Tool(result) => result.content.len(),
    };
    let said: usize = state.transcript.iter().map(|said| ROW + message(said)).sum();
    ROW * (16 + state.used_call_ids().len()) + said
}
