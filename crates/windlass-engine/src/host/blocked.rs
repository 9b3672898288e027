//! What follows from a no: the agent is told, the audit has it, and what the gate wants done besides is done. What was
//! blocked stays blocked.

use serde_json::json;
use windlass_domain::execution::ExecutionCommand;
use windlass_domain::queue::{
    ErrorCode, ErrorPayload, MessageKind, OriginAgent, QueueMessage, QueuePayload, Sender, Urgency,
};
use windlass_domain::{Call, MessageId, Taint, ToolCall};
use windlass_policy::gate::Escalation;
use windlass_store::queue::{Actor, AuditType, Queue, enqueue};
use windlass_store::{Commit, NewEvent};

use super::authorise::{Candidate, Judged, Record, deny};
use super::execution_host::ExecutionHost;
use super::find::Finding;
use crate::approvals::{Audited, trace_of};

/// Of a gate's reason, so much travels.
const MOST_DETAIL_CHARS: usize = 2_000;

impl ExecutionHost {
    pub(super) fn block(&self, record: &mut Record, candidate: &Candidate<'_>, finding: &Finding) -> Judged {
        let call = &candidate.open.call;
        let why = finding.reasons.join("; ");
        record.rider.events.push(self.audit_block(candidate, finding, &why));
        self.escalate(record, finding, &why, candidate.state.taint);
        deny(record, call, format!("not done: {why}. Find another way."))
    }

    /// Somebody else told, the attempt begun anew.
    fn escalate(&self, record: &mut Record, finding: &Finding, why: &str, taint: Taint) {
        let Some(escalation) = finding.outcome.on_block else { return };
        if escalation.spends_an_attempt() {
            record.ends = Some(why.to_owned());
        }
        if matches!(escalation, Escalation::TransferToQueue | Escalation::SpawnTask) {
            record.rider.ride_with(self.tell_the_queue(escalation, why, taint));
        }
    }

    pub(super) fn audit_block(&self, candidate: &Candidate<'_>, finding: &Finding, why: &str) -> NewEvent {
        let ToolCall { call_id, tool, .. } = &candidate.open.call;
        let details = json!({
            "tool": tool,
            "call_id": call_id,
            "execution_id": self.execution,
            "level": finding.risk.level,
            "gate": finding.outcome.by,
            "on_block": finding.outcome.on_block,
        });
        let (event_type, actor) = (AuditType::GateBlock, Actor::GateRunner);
        let audited = Audited { event_type, actor, decision: "block", reason: why, details };
        audited.about(self.task, &self.shared, candidate.state.taint, self.shared.wall())
    }

    /// For whoever reads the runtime's queue: what was blocked, and what the gate wants done about it.
    fn tell_the_queue(&self, escalation: Escalation, why: &str, taint: Taint) -> Commit {
        let now = self.shared.wall();
        let mut commit = Commit::unfenced(self.shared.tenant.clone(), now);
        let wanted = serde_json::to_value(escalation).ok().and_then(|word| word.as_str().map(str::to_owned));
        let payload = ErrorPayload {
            error_code: ErrorCode::GateBlocked,
            retryable: false,
            origin_agent: OriginAgent::Executor,
            attempt_number: self.attempt,
            detail: why.chars().take(MOST_DETAIL_CHARS).collect(),
        };
        let id = MessageId::new(now, self.shared.runtime.random());
        let (from, whose) = ((Sender::Runtime, MessageKind::SystemEvent), (self.shared.tenant.clone(), taint));
        let message = QueueMessage {
            task_id: Some(self.task),
            urgency: Urgency::NeedsAttention,
            error_code: Some(payload.error_code),
            retryable: Some(payload.retryable),
            origin_agent: Some(payload.origin_agent),
            attempt_number: Some(payload.attempt_number),
            payload: Some(QueuePayload::Error(payload)),
            ..QueueMessage::new(id, trace_of(self.task), from, whose, wanted.unwrap_or_default(), now)
        };
        enqueue(&mut commit, Queue::Runtime, &message).expect("a bounded message of the contract's own words fits");
        commit
    }
}

/// An attempt that ends here begins nothing any more; every call has its result.
pub fn none_started(record: &mut Record, judged: Vec<Judged>) -> Vec<Judged> {
    record.commands.retain(|command| !matches!(command, ExecutionCommand::StartCall { .. }));
    let denied = judged.into_iter().map(|judged| match judged {
        Judged::Allowed(Call { call, .. }) => deny(record, &call, "not done: a gate ends this attempt".to_owned()),
        other => other,
    });
    denied.collect()
}
