//! What the proxy hears of items and plans (seed 001 §2.3, §3.5): a message for each change, in the commit that makes it so. Whoever
//! works, at a terminal or as a worker, also takes the news out of the queue and into the session they belong to (`turns::status`).

use serde_json::json;
use windlass_domain::plan::AtomId;
use windlass_domain::queue::{
    ErrorCode as QueueCode, ExecutionStatus, MessageKind, OriginAgent, QueueMessage, QueuePayload, Sender,
    StatusPayload, Urgency,
};
use windlass_domain::task::{Part, PartOf, TaskState};
use windlass_domain::{ErrorCode, ErrorDetails, MessageId, Taint, TaskId};
use windlass_store::Commit;
use windlass_store::queue::{Queue, enqueue};

use crate::Error;
use crate::approvals::trace_of;
use crate::engine::Engine;
use crate::host::Rider;

/// Of what went wrong, so much is told; the whole is in the journal.
const LONGEST_DETAIL: usize = 1_000;

/// How an item stands now.
pub struct Status {
    pub status: ExecutionStatus,
    /// What went wrong, where something did.
    pub error: Option<ErrorDetails>,
}

impl Status {
    pub const fn of(status: ExecutionStatus) -> Self {
        Self { status, error: None }
    }

    pub const fn wrong(status: ExecutionStatus, error: ErrorDetails) -> Self {
        Self { status, error: Some(error) }
    }
}

impl Engine {
    /// Tells how an item stands, as part of what a commit carries. `state` is the item's task; of other tasks nothing is told.
    pub(crate) fn tell_status(&self, rider: &mut Rider, state: &TaskState, status: Status) -> Result<(), Error> {
        let Some(created) = &state.created else { return Ok(()) };
        let Some(PartOf { root, part: Part::Atom { atom, .. }, .. }) = &created.part_of else { return Ok(()) };
        let task = created.command.task_id;
        let message = self.status_message(state, (task, *root, atom), status);
        self.tell_proxy(rider, &message)
    }

    /// Tells that there is a plan to look at.
    pub(crate) fn tell_plan(&self, rider: &mut Rider, root: TaskId, revision: u32) -> Result<(), Error> {
        let from = (Sender::Planner, MessageKind::PlanResult);
        let message = self.message(root, from, format!("revision {revision} of the plan is there"));
        let message = QueueMessage { task_id: Some(root), urgency: Urgency::NeedsAttention, ..message };
        self.tell_proxy(rider, &message)
    }

    fn tell_proxy(&self, rider: &mut Rider, message: &QueueMessage) -> Result<(), Error> {
        let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
        enqueue(&mut commit, Queue::Proxy, message)?;
        rider.ride_with(commit);
        Ok(())
    }

    fn message(&self, root: TaskId, from: (Sender, MessageKind), content: String) -> QueueMessage {
        let (shared, now) = (&self.shared, self.shared.wall());
        let id = MessageId::new(now, shared.runtime.random());
        QueueMessage::new(id, trace_of(root), from, (shared.tenant.clone(), Taint::Auth), content, now)
    }

    fn status_message(
        &self,
        state: &TaskState,
        (task, root, atom): (TaskId, TaskId, &AtomId),
        Status { status, error }: Status,
    ) -> QueueMessage {
        let attempt = u32::try_from(state.attempts.len()).unwrap_or(u32::MAX).max(1);
        let (used, cost) = state.used();
        let budget = state.created.as_ref().map(|created| &created.budget);
        let detail = error.as_ref().map(|error| {
            let told: String = error.message.chars().take(LONGEST_DETAIL).collect();
            self.shared.redactor.redact(&told).into_owned()
        });
        let payload = StatusPayload {
            status,
            attempt_number: Some(attempt),
            budget_remaining_tokens: budget.map(|budget| budget.max_tokens.saturating_sub(used.total_tokens)),
            budget_remaining_usd: budget.map(|budget| budget.max_cost_usd.minus(cost).as_dollars()),
            detail,
        };
        let from = (Sender::Runtime, MessageKind::ExecutionStatusChange);
        let message = self.message(root, from, format!("{atom}: {status}"));
        let is_wrong = status.is_error();
        QueueMessage {
            task_id: Some(task),
            parent_task_id: Some(root),
            work_item: Some(json!({ "id": atom })),
            urgency: if is_wrong { Urgency::NeedsAttention } else { Urgency::Informational },
            // What went wrong may be told in the words of whatever an agent ran or read.
            taint: if payload.detail.is_some() { Taint::External } else { Taint::Auth },
            error_code: is_wrong.then(|| code(error.as_ref())),
            retryable: is_wrong.then_some(status != ExecutionStatus::Failed),
            origin_agent: is_wrong.then_some(OriginAgent::Executor),
            attempt_number: is_wrong.then_some(attempt),
            payload: Some(QueuePayload::Status(payload)),
            ..message
        }
    }
}

/// Seed 001 §2.1's few codes for all that can go wrong.
fn code(error: Option<&ErrorDetails>) -> QueueCode {
    match error.map(|error| error.error_code) {
        Some(ErrorCode::ChecksFailed) => QueueCode::VerificationFailed,
        Some(ErrorCode::BudgetExceeded) => QueueCode::BudgetExceeded,
        Some(ErrorCode::GateBlocked) => QueueCode::GateBlocked,
        Some(ErrorCode::ApprovalDenied) => QueueCode::ApprovalDenied,
        Some(ErrorCode::Timeout) => QueueCode::Timeout,
        _ => QueueCode::ToolFailure,
    }
}
