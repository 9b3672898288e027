//! What ends with a run: the cards and questions that are still open, leave that was given and not used, and the agents that work
//! for it, whose bills are put on its account.

use std::sync::Arc;

use windlass_domain::execution::{CallPhase, Child, ExecutionCommand, ExecutionState, Lifecycle};
use windlass_domain::{Awaited, BoxFuture, CallStatus, Effect, TaskId};

use crate::Error;
use crate::answers::ended;
use crate::attempt::move_to;
use crate::engine::Engine;
use crate::host::{Decided, Rider, bill, load};

const CUT_SHORT: &str = "cancelled: the run has ended, and the sub-agent with it";

impl Engine {
    /// The run has ended: what it still asks, or was allowed and did not do, is taken back. Agents that work for it end with it;
    /// what is returned puts their bills on its account and ends the calls that spawned them.
    pub(crate) fn take_back<'a>(
        &'a self,
        task: TaskId,
        rider: &'a mut Rider,
        state: &'a ExecutionState,
    ) -> BoxFuture<'a, Result<Vec<ExecutionCommand>, Error>> {
        Box::pin(async move {
            self.take_back_calls(rider, state).await?;
            let mut bills = Vec::new();
            for child in state.children.iter().filter(|child| child.ended.is_none()) {
                bills.extend(self.end_child(task, rider, child).await?);
            }
            // A call whose agent ended here has its result as any other, and nobody else would write it.
            let spawned = state.open_calls.iter().filter(|open| open.started() == Some(&Effect::Child));
            bills.extend(spawned.map(|open| ended(&open.call.call_id, CallStatus::Cancelled, CUT_SHORT.to_owned())));
            Ok(bills)
        })
    }

    async fn end_child(
        &self,
        task: TaskId,
        rider: &mut Rider,
        child: &Child,
    ) -> Result<Option<ExecutionCommand>, Error> {
        let shared = &self.shared;
        let mut journal = load(shared.store.as_ref(), &shared.tenant, child.execution_id).await?;
        if journal.state.header.is_none() {
            return Ok(None);
        }
        if !journal.state.lifecycle.is_over() {
            let state = Arc::clone(&journal.state);
            let mut commands = self.take_back(task, rider, &state).await?;
            let may = |to: &Lifecycle| state.lifecycle.may_become(*to);
            let end = [Lifecycle::Cancelled, Lifecycle::Failed].into_iter().find(may).unwrap_or(Lifecycle::Failed);
            commands.push(move_to(end, "its parent has ended"));
            rider.expect.push((journal.stream.clone(), journal.head));
            let mut decided = Decided::default();
            let ended = journal.advance(commands, &mut decided, &shared.redactor, shared.wall());
            ended.map_err(|refused| Error::Broken { task, detail: refused.to_string() })?;
            rider.events.extend(decided.rows);
        }
        Ok(Some(ExecutionCommand::Charge(Box::new(bill(&child.label, &journal.state, None)))))
    }

    async fn take_back_calls(&self, rider: &mut Rider, state: &ExecutionState) -> Result<(), Error> {
        const ENDED: &str = "the run has ended";
        for open in &state.open_calls {
            match open.phase {
                CallPhase::Waiting(Awaited::Card(card)) | CallPhase::Approved(card) => {
                    self.withdraw(rider, card, ENDED).await?;
                }
                CallPhase::Waiting(Awaited::Question(question)) => {
                    self.withdraw_question(rider, question, ENDED).await?;
                }
                CallPhase::Waiting(Awaited::Research(_) | Awaited::Monitor(_))
                | CallPhase::Asked
                | CallPhase::Rewritten
                | CallPhase::Started { .. } => {}
            }
        }
        Ok(())
    }
}
