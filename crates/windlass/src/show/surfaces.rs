//! On which surfaces a record is told. The rule is `windlass-policy`'s; here records get the names it goes by.

use windlass_domain::execution::{DecisionOutcome, ExecutionEvent, OwnerEffect};
use windlass_domain::graph::{AtomOutcome, GraphEvent};
use windlass_domain::risk::Ruling;
use windlass_domain::task::TaskEvent;
use windlass_domain::{CallStatus, TaskResultStatus};
use windlass_engine::JournalRecord;
use windlass_policy::surface::{Event, Surface, route_to_surface};

pub fn surfaces(record: &JournalRecord) -> &'static [Surface] {
    route_to_surface(match record {
        JournalRecord::Task { event, .. } => of_task(event),
        JournalRecord::Graph { event, .. } => of_plan(event),
        JournalRecord::Execution { event, .. } => of_execution(event),
    })
}

fn of_task(event: &TaskEvent) -> Event<'static> {
    match event {
        TaskEvent::AttemptWaiting(waiting) if waiting.cards.is_empty() && waiting.questions.is_empty() => {
            status("running")
        }
        TaskEvent::AttemptWaiting(_) | TaskEvent::HelpAsked(_) => Event::GateBlock,
        TaskEvent::ConsultAsked(_) => status("stuck"),
        TaskEvent::ChecksRecorded(checks) if !checks.conflicts.is_empty() => status("blocked"),
        TaskEvent::ChecksRecorded(checks) if checks.results.iter().any(|check| !check.passed) => {
            status("verification_failed")
        }
        TaskEvent::Finished(finished) => status(match finished.result.status {
            TaskResultStatus::Completed => "done",
            TaskResultStatus::Failed => "failed",
            TaskResultStatus::BlockedUser => "blocked",
            TaskResultStatus::Paused => "paused",
            TaskResultStatus::Cancelled => "cancelled",
        }),
        _ => status("running"),
    }
}

fn of_plan(event: &GraphEvent) -> Event<'static> {
    match event {
        GraphEvent::PlanAsked(_) | GraphEvent::ReviewAsked(_) => Event::GateBlock,
        GraphEvent::JoinChecked(checked) if checked.results.iter().any(|check| !check.passed) => {
            status("verification_failed")
        }
        GraphEvent::AtomEnded(ended) => status(match &ended.outcome {
            AtomOutcome::Resolved { .. } => "done",
            AtomOutcome::Failed(_) => "failed",
        }),
        _ => status("running"),
    }
}

fn of_execution(event: &ExecutionEvent) -> Event<'static> {
    match event {
        ExecutionEvent::RiskChecked(checked) if checked.ruling != Ruling::Continue => Event::GateBlock,
        ExecutionEvent::OwnerEffect(OwnerEffect::Told { .. }) => Event::Told,
        ExecutionEvent::EgressRefused(_) => Event::GateBlock,
        ExecutionEvent::DecisionRecorded(decision) if is_asked(&decision.outcome) => Event::GateBlock,
        // Whatever the reason: a gate, a person, an approval that does not hold.
        ExecutionEvent::ToolFinished(finished) if finished.status == CallStatus::Denied => status("blocked"),
        _ => status("running"),
    }
}

const fn is_asked(outcome: &DecisionOutcome) -> bool {
    matches!(outcome, DecisionOutcome::Waiting { .. } | DecisionOutcome::Question { .. })
}

const fn status(status: &'static str) -> Event<'static> {
    Event::Message { kind: "execution_status", status: Some(status) }
}
