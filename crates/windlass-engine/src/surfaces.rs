//! On which surfaces a record is told: beside a conversation (Stream), among what is asked (Review), in the record of what happened
//! (Activity). The rule is `windlass-policy`'s; here records get the names it goes by.

use windlass_domain::execution::{DecisionOutcome, ExecutionEvent, OwnerEffect};
use windlass_domain::graph::{AtomOutcome, GraphEvent};
use windlass_domain::risk::Ruling;
use windlass_domain::session::SessionEvent;
use windlass_domain::task::TaskEvent;
use windlass_domain::{CallStatus, TaskResultStatus, Unreadable};
use windlass_policy::surface::{Event, Surface, route_to_surface};
use windlass_store::StoredEvent;

use crate::feed::FeedEvent;
use crate::read::JournalRecord;

impl JournalRecord {
    pub fn surfaces(&self) -> &'static [Surface] {
        route_to_surface(match self {
            Self::Task { event, .. } => of_task(event),
            Self::Graph { event, .. } => of_plan(event),
            Self::Execution { event, .. } => of_execution(event),
        })
    }
}

impl FeedEvent {
    pub fn surfaces(&self) -> &'static [Surface] {
        surfaces(&self.about, &self.kind, self.version, &self.data)
    }
}

/// Of a record as it is stored.
pub fn surfaces_of(row: &StoredEvent) -> &'static [Surface] {
    surfaces(row.stream.kind(), &row.kind, row.version, &row.data)
}

fn surfaces(about: &str, kind: &str, version: u16, data: &str) -> &'static [Surface] {
    // What this version cannot read is told where everything is.
    route_to_surface(event(about, kind, version, data).unwrap_or_else(|_| status("running")))
}

fn event(about: &str, kind: &str, version: u16, data: &str) -> Result<Event<'static>, Unreadable> {
    Ok(match about {
        "task" => of_task(&TaskEvent::decode(kind, version, data)?),
        "graph" => of_plan(&GraphEvent::decode(kind, version, data)?),
        // Most of what an agent does says nothing to anybody but the record, and some of it is long.
        "execution" if !SAYS_MORE.contains(&kind) => status("running"),
        "execution" => of_execution(&ExecutionEvent::decode(kind, version, data)?),
        "session" => of_session(&SessionEvent::decode(kind, version, data)?),
        "approval" if kind == "approval.requested" => Event::GateBlock,
        "question" if kind == "question.asked" => Event::GateBlock,
        _ => status("running"),
    })
}

/// The kinds of records of executions that `of_execution` looks at.
const SAYS_MORE: [&str; 5] =
    ["risk.checked", "owner-effect.recorded", "egress.refused", "decision.recorded", "tool.finished"];

fn of_session(event: &SessionEvent) -> Event<'static> {
    match event {
        SessionEvent::UserSaid(_) | SessionEvent::TurnEnded(_) => Event::Told,
        SessionEvent::StatusTold(told) => status(told.status.as_str()),
        _ => status("running"),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(about: &str, kind: &str, data: &str, expected: &[Surface]) {
        assert_eq!(surfaces(about, kind, 1, data), expected, "{about} {kind} {data}");
    }

    #[test]
    fn how_a_task_of_a_conversation_stands_is_told_beside_it_and_what_is_asked_in_review() {
        use Surface::{Activity, Review, Stream};
        let task = "01a1ecae-a16b-7260-acce-7dd0eb7861c2";
        for (status, expected) in [
            ("stuck", &[Stream, Activity][..]),
            ("blocked", &[Stream, Activity]),
            ("verification_failed", &[Stream, Activity]),
            ("done", &[Stream]),
            ("running", &[Activity]),
        ] {
            check(
                "session",
                "status.told",
                &format!(r#"{{"task":"{task}","status":"{status}","detail":""}}"#),
                expected,
            );
        }
        check("approval", "approval.requested", "{}", &[Review]);
        check("question", "question.asked", "{}", &[Review]);
        check(
            "execution",
            "owner-effect.recorded",
            r#"{"kind":"told","call_id":"c","message":"half of it is done"}"#,
            &[Stream],
        );
        check("execution", "model.requested", "{}", &[Activity]);
        check("memory", "memory.recorded", "{}", &[Activity]);
        check("task", "of.a.later.version", "{}", &[Activity]);
    }

    #[test]
    fn what_says_more_is_a_kind_of_record() {
        assert!(SAYS_MORE.iter().all(|kind| ExecutionEvent::KINDS.contains(kind)));
    }
}
