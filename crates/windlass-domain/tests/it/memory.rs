//! What is remembered of a task: short, labelled, and nothing that is not a later task's business.

use windlass_domain::graph::{GraphEvent, PlanAnswer, PlanAnswered, PlanProposed, Proposer, Remembered};
use windlass_domain::{
    Digest, Ended, ErrorCode, ErrorDetails, LONGEST_MEMORY, Memories, Memory, MemoryEvent, MemoryForgotten, MemoryKind,
    PlanDecision, Seq, Taint, TaskResult, TaskResultStatus, TreeId, plan_decisions, remember,
};

use crate::graph::plan;
use crate::notation::START;
use crate::task_notation::{recorded, result};

fn told(goal: &str, result: &TaskResult, decisions: &[PlanDecision]) -> Vec<Memory> {
    remember(&Ended { goal, result, decisions, taint: Taint::Auth, files: Taint::Auth, at: START })
}

fn shown(memories: &[Memory]) -> String {
    let one = |memory: &Memory| format!("[{}] {}", memory.kind.as_str(), memory.text);
    memories.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn a_task_is_remembered_by_what_it_came_to() {
    let mut completed = result(TaskResultStatus::Completed);
    completed.verified = true;
    completed.checks = recorded(1, &[true, true]).results;
    completed.final_message = Some("The timeout was too short; it is 30 seconds now.\n".to_owned());
    assert_eq!(
        shown(&told("\n  Mend the flaky test\nIt fails on Mondays.", &completed, &[])),
        [
            "[outcome] Mend the flaky test",
            "completed, verified by 2 checks",
            "The timeout was too short; it is 30 seconds now."
        ]
        .join("\n")
    );
    let cancelled = result(TaskResultStatus::Cancelled);
    assert_eq!(
        shown(&told("Rewrite it", &cancelled, &[])),
        ["[outcome] Rewrite it", "cancelled, not verified"].join("\n")
    );
}

#[test]
fn a_failure_says_what_failed_and_how() {
    let mut failed = result(TaskResultStatus::Failed);
    failed.checks = recorded(1, &[true, false]).results;
    failed.error_details = Some(ErrorDetails::new(ErrorCode::ChecksFailed, "the checks still fail after 5 attempts"));
    failed.final_message = Some("I could not find the cause.".to_owned());
    assert_eq!(
        shown(&told("Mend the flaky test", &failed, &[])),
        [
            "[failure] Mend the flaky test",
            "the checks still fail after 5 attempts",
            "check \"check 1\": exit code 1",
            "",
            "[outcome] Mend the flaky test",
            "failed, not verified",
            "I could not find the cause."
        ]
        .join("\n")
    );
}

/// Contracts §5: what a provider says of itself never enters a prompt.
#[test]
fn what_a_provider_said_is_not_remembered() {
    for code in [
        ErrorCode::ModelRejected,
        ErrorCode::ModelUnavailable,
        ErrorCode::SandboxUnavailable,
        ErrorCode::RunnerUnavailable,
        ErrorCode::Internal,
    ] {
        let mut failed = result(TaskResultStatus::Failed);
        failed.error_details = Some(ErrorDetails::new(code, "x-organisation: org-123"));
        let memories = told("Go", &failed, &[]);
        assert!(memories.iter().all(|memory| !memory.text.contains("org-123")), "{memories:?}");
        assert!(memories[0].text.lines().count() == 2, "and yet it says what it was: {memories:?}");
    }
}

#[test]
fn what_was_said_to_plans_is_remembered_with_the_reason() {
    let proposed = |revision, title: &str| {
        let mut plan = plan("a b");
        title.clone_into(&mut plan.0.title);
        let base = TreeId(Digest::of(b"tree"));
        GraphEvent::PlanProposed(PlanProposed {
            revision,
            by: Proposer::User,
            base,
            plan: Ok(plan),
            document: None,
            taint: Taint::Auth,
            remembered: Remembered::default(),
        })
    };
    let answered = |revision, answer| GraphEvent::PlanAnswered(PlanAnswered { revision, answer });
    let story = [
        proposed(1, "Move to Postgres"),
        answered(1, PlanAnswer::EditRequested { note: "not before the release".to_owned() }),
        proposed(2, "Move to Postgres later"),
        answered(2, PlanAnswer::Declined { reason: "too costly".to_owned() }),
        proposed(3, "Keep SQLite"),
        answered(3, PlanAnswer::Approved),
    ];
    let memories = told("Choose a database", &result(TaskResultStatus::Completed), &plan_decisions(&story));
    assert_eq!(
        shown(&memories),
        [
            "[decision] Move to Postgres",
            "the plan was sent back to be changed",
            "not before the release",
            "",
            "[decision] Move to Postgres later",
            "the plan was declined",
            "too costly",
            "",
            "[decision] Keep SQLite",
            "the plan was approved",
            "",
            "[outcome] Choose a database",
            "completed, not verified"
        ]
        .join("\n")
    );
    let ids: std::collections::BTreeSet<_> = memories.iter().map(|memory| memory.id).collect();
    assert_eq!(ids.len(), memories.len());
    assert_eq!(memories, told("Choose a database", &result(TaskResultStatus::Completed), &plan_decisions(&story)));
}

#[test]
fn whatever_a_task_says_its_memory_is_short_and_hides_nothing() {
    let endless = "\u{202e}é".repeat(100_000);
    let mut failed = result(TaskResultStatus::Failed);
    failed.checks = recorded(1, &[false; 100]).results;
    failed.checks.iter_mut().for_each(|check| check.reason.clone_from(&endless));
    failed.error_details = Some(ErrorDetails::new(ErrorCode::GateBlocked, &*endless));
    failed.final_message = Some(endless.clone());
    let declined = PlanDecision { title: endless.clone(), answer: PlanAnswer::Declined { reason: endless.clone() } };
    let memories = told(&endless, &failed, &vec![declined; 100]);
    assert_eq!(memories.len(), 7, "five decisions, the failure and the outcome");
    for memory in memories {
        assert!(memory.text.chars().count() <= LONGEST_MEMORY, "{}", memory.text.chars().count());
        assert!(!memory.text.contains('\u{202e}'));
    }
}

#[test]
fn a_memory_is_as_trustworthy_as_what_it_was_made_of() {
    let labels = |taint, files| {
        let result = result(TaskResultStatus::Failed);
        let memories = remember(&Ended { goal: "Go", result: &result, decisions: &[], taint, files, at: START });
        memories.iter().map(|memory| (memory.kind, memory.taint)).collect::<Vec<_>>()
    };
    let both = |failure, outcome| vec![(MemoryKind::Failure, failure), (MemoryKind::Outcome, outcome)];
    assert_eq!(labels(Taint::Auth, Taint::Auth), both(Taint::Auth, Taint::Auth));
    assert_eq!(labels(Taint::External, Taint::Auth), both(Taint::External, Taint::External));
    assert_eq!(labels(Taint::Auth, Taint::External), both(Taint::External, Taint::Auth), "checks quote files");
}

#[test]
fn what_is_forgotten_is_gone_and_the_newest_comes_first() {
    let mut memories = Memories::default();
    let kept = told("Go", &result(TaskResultStatus::Failed), &[]);
    for (seq, memory) in (1..).map(Seq).zip(kept.clone()) {
        memories.apply(seq, &MemoryEvent::Recorded(memory));
    }
    let order: Vec<_> = memories.newest_first().map(|(seq, memory)| (seq.0, memory.id)).collect();
    assert_eq!(order, [(2, kept[1].id), (1, kept[0].id)]);
    let forgotten = MemoryForgotten { id: kept[0].id, user: "me".to_owned() };
    memories.apply(Seq(3), &MemoryEvent::Forgotten(forgotten));
    assert_eq!((memories.len(), memories.place(kept[0].id), memories.place(kept[1].id)), (1, None, Some(Seq(2))));
}

/// A journal that exists stays readable, and a label that is missing is none to trust.
#[test]
fn the_form_of_a_memory_is_part_of_the_format() {
    assert_eq!(MemoryEvent::KINDS, ["memory.recorded", "memory.forgotten"]);
    let memory = told("Go", &result(TaskResultStatus::Completed), &[]).remove(0);
    let encoded = MemoryEvent::Recorded(memory.clone()).encode();
    assert_eq!(
        encoded.data.get(),
        concat!(
            r#"{"id":"018bcfe5-6800-7ad0-8db1-b5b3ed515ba3","kind":"outcome","text":"Go\ncompleted, not verified","#,
            r#""taint":"auth","source":{"task":"00000000-0000-7000-8000-000000000000"},"created_at":1700000000000}"#
        )
    );
    let MemoryEvent::Recorded(read) = MemoryEvent::decode(encoded.kind, encoded.version, encoded.data.get()).unwrap()
    else {
        panic!("another event");
    };
    assert_eq!(read, memory);
    let unlabelled = encoded.data.get().replace(r#""taint":"auth","#, "");
    let MemoryEvent::Recorded(read) = MemoryEvent::decode(encoded.kind, 1, &unlabelled).unwrap() else {
        panic!("another event");
    };
    assert_eq!(read.taint, Taint::External);
}
