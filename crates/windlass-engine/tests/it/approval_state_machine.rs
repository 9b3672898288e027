//! What becomes of a call that needs a person: seed 001 §6.5's stations and its failures. Each way an answer can be wrong has
//! an error of its own and an entry in the audit, and changes nothing.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::approval::{Answer, ApprovalState, CardId, Rejected, Strength, Verdict};
use windlass_domain::{CallStatus, Encoded, Secret, Taint, TaskId, TaskResultStatus, Tenant, Wall};
use windlass_engine::{Driven, Engine, Error, NobodyWatches};
use windlass_policy::Redactor;
use windlass_store::queue::AuditType;
use windlass_store::{Position, Store, StreamId};

use crate::court::{Court, bash, call, no, owner_key, yes};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const WHOLE_PATH: [&str; 7] = ["requested", "decided", "issued", "verified", "attached", "checked", "executed"];

fn one_risky_call() -> Court {
    Court::new(vec![vec![bash("rm notes")]])
}

fn finished(driven: Driven) -> TaskResultStatus {
    match driven {
        Driven::Finished(result) => result.status,
        other => panic!("not finished: {other:?}"),
    }
}

/// Nothing is held by what waits: no lease, no sandbox, no message.
fn costs_nothing(court: &Court, task: TaskId) {
    assert_eq!((court.is_held(task), court.things.open_sandboxes(), court.work_for(task)), (false, 0, vec![]));
}

#[test]
fn full_approval_path_card_approve_execute_done() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    assert_eq!((court.performed(), asked.card.intent.as_str(), asked.task), (vec![], "run rm notes", task));
    costs_nothing(&court, task);
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)), "driving it changes nothing");
    costs_nothing(&court, task);
    let card = asked.card.card_id;
    court.approve(&engine, card);
    assert_eq!(court.work_for(task).len(), 1, "an answer wakes it");
    assert_eq!(finished(court.drive(&engine, task)), TaskResultStatus::Completed);
    assert_eq!(court.performed(), [r#"bash {"command":"rm notes"}"#]);
    assert_eq!(court.stations(card), WHOLE_PATH);
    assert_eq!(court.decisions(&engine), ["approval approved", "verify verified", "check passed"]);
    assert!(court.wait(engine.cards()).unwrap().is_empty());
    costs_nothing(&court, task);
    let kinds =
        ["task.created", "attempt.started", "attempt.waiting", "attempt.woken", "attempt.ended", "task.finished"];
    assert_eq!(court.task_kinds(&engine, task), kinds);
}

/// The twin: what needs nobody is asked of nobody.
#[test]
fn a_call_of_medium_risk_runs_unasked() {
    let court = Court::new(vec![vec![bash("ls")], vec![call("read", serde_json::json!({"path": "notes"}))]]);
    let engine = court.process();
    let task = court.submit(&engine);
    assert_eq!(finished(court.drive(&engine, task)), TaskResultStatus::Completed);
    assert_eq!((court.performed().len(), court.decisions(&engine)), (2, vec![]));
}

#[test]
fn what_waits_wakes_in_another_process_after_everything_was_dropped() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    drop(engine);
    let court = court.reopen();
    let terminal = court.process();
    court.approve(&terminal, asked.card.card_id);
    drop(terminal);
    let court = court.reopen();
    let worker = court.process();
    court.work(&worker);
    assert_eq!(court.performed().len(), 1);
    assert_eq!(court.stations(asked.card.card_id), WHOLE_PATH);
    assert_eq!((court.interruptions(&worker, task), court.work_for(task)), (0, vec![]));
    assert_eq!(finished(court.drive(&worker, task)), TaskResultStatus::Completed);
}

/// Two cards of one answer: the agent goes on with the first call that may, and parks again for the next.
#[test]
fn calls_are_approved_one_by_one_and_each_card_is_for_its_own_call() {
    let court = Court::new(vec![vec![bash("rm one"), bash("rm two")]]);
    let engine = court.process();
    let (task, first) = court.park(&engine);
    court.approve(&engine, first.card.card_id);
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
    assert_eq!(court.performed().len(), 1);
    let second = court.only_card(&engine);
    assert_ne!(first.card.card_id, second.card.card_id);
    court.answer(&engine, second.card.card_id, no("")).unwrap();
    finished(court.drive(&engine, task));
    assert_eq!(court.performed(), [r#"bash {"command":"rm one"}"#]);
}

/// Answers that count: what the agent is told of its call, and what the audit says.
#[test]
fn approval_state_machine_all_transitions_and_failure_paths() {
    let edit = Answer { verdict: Verdict::EditRequested, note: "use git rm".to_owned(), ..yes() };
    let conditional = Answer { verdict: Verdict::Conditional, conditions: vec!["once".to_owned()], ..yes() };
    let check = |answer: Answer, runs: usize, told: &str, audited: &[&str]| {
        let court = one_risky_call();
        let engine = court.process();
        let (task, asked) = court.park(&engine);
        court.answer(&engine, asked.card.card_id, answer).unwrap();
        assert_eq!(finished(court.drive(&engine, task)), TaskResultStatus::Completed);
        assert_eq!(court.performed().len(), runs, "{told}");
        assert_eq!(court.results(&engine, task)[0].content, told);
        assert_eq!(court.decisions(&engine), audited);
        costs_nothing(&court, task);
    };
    let used = ["verify verified", "check passed"];
    check(yes(), 1, "ran", &[&["approval approved"], &used[..]].concat());
    check(conditional, 1, "ran", &[&["approval conditional"], &used[..]].concat());
    let denied = |said| [said, "gateblock denied"];
    check(no(""), 0, "not done: a person declined it", &denied("approval declined"));
    check(no("too soon"), 0, "not done: a person declined it: too soon", &denied("approval declined"));
    let edited = "not done: a person asks for a change: use git rm";
    check(edit, 0, edited, &denied("approval edit_requested"));
}

/// An answer that does not count: its own error, one entry in the audit, and all else as it was.
fn refused(court: &Court, engine: &Engine, card: CardId, answer: Answer, expected: &Rejected) {
    let before = (court.stations(card), court.decisions(engine), court.performed());
    let work = court.wait(court.store.depth("executor")).unwrap();
    match court.answer(engine, card, answer) {
        Err(Error::Card(rejected)) => assert_eq!(rejected, *expected),
        other => panic!("{expected:?}: {other:?}"),
    }
    let noted = court.audit(engine).pop().unwrap();
    assert_eq!((noted.kind, noted.decision.as_str()), (AuditType::Approval, "refused"), "{expected:?}");
    assert_eq!(noted.reason, expected.to_string());
    let (stations, mut decisions, performed) = (court.stations(card), court.decisions(engine), court.performed());
    decisions.pop();
    assert_eq!((stations, decisions, performed), before, "{expected:?}");
    assert_eq!(court.wait(court.store.depth("executor")).unwrap(), work, "nobody was woken");
}

#[test]
fn an_answer_that_is_weak_external_or_incomplete_is_refused_and_the_card_stays_open() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    let card = asked.card.card_id;
    let weak = |approval_strength| Answer { approval_strength, ..yes() };
    refused(&court, &engine, card, weak(Strength::Implied), &Rejected::NeedsSecondStep);
    refused(&court, &engine, card, weak(Strength::Explicit), &Rejected::NeedsSecondStep);
    let from_a_page = Answer { taint: Taint::External, ..yes() };
    refused(&court, &engine, card, from_a_page, &Rejected::NotAuthenticated);
    let no_edit = Answer { verdict: Verdict::EditRequested, ..yes() };
    refused(&court, &engine, card, no_edit, &Rejected::NoEdit);
    let conditional = Answer { verdict: Verdict::Conditional, ..yes() };
    refused(&court, &engine, card, conditional, &Rejected::NoConditions);
    let conditions = Answer { conditions: vec!["x".to_owned()], ..yes() };
    refused(&court, &engine, card, conditions, &Rejected::UnwantedConditions);
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
    // The twin: the same card, answered as it should be.
    court.approve(&engine, card);
    finished(court.drive(&engine, task));
    assert_eq!(court.performed().len(), 1);
}

#[test]
fn an_answer_given_twice_changes_nothing_whichever_came_first() {
    for (first, verdict) in [(yes(), Verdict::Approved), (no("no"), Verdict::Declined)] {
        let court = one_risky_call();
        let engine = court.process();
        let (task, asked) = court.park(&engine);
        let card = asked.card.card_id;
        court.answer(&engine, card, first).unwrap();
        for second in [yes(), no("changed my mind")] {
            refused(&court, &engine, card, second, &Rejected::AlreadyAnswered(verdict));
        }
        finished(court.drive(&engine, task));
        refused(&court, &engine, card, yes(), &Rejected::AlreadyAnswered(verdict));
        assert_eq!(court.performed().len(), usize::from(verdict.allows()));
    }
}

#[test]
fn an_answer_after_a_cancel_changes_nothing() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    court.wait(engine.ask_to_cancel(task, "enough")).unwrap();
    assert_eq!(court.work_for(task).len(), 1, "a wish to stop wakes it");
    court.work(&court.process());
    assert_eq!(finished(court.drive(&engine, task)), TaskResultStatus::Cancelled);
    let card = asked.card.card_id;
    assert!(matches!(court.approval(&engine, card), ApprovalState::Withdrawn { .. }));
    refused(&court, &engine, card, yes(), &Rejected::RunEnded);
    assert!(court.wait(engine.cards()).unwrap().is_empty());
    assert!(court.wait(court.store.timers_due(None, court.wall() + 30 * DAY, 10)).unwrap().is_empty());
}

/// A yes that nobody used before the run was cancelled is taken back with it.
#[test]
fn an_approval_that_was_not_used_is_taken_back_when_the_run_is_cancelled() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    court.approve(&engine, asked.card.card_id);
    court.wait(engine.ask_to_cancel(task, "enough")).unwrap();
    assert_eq!(finished(court.drive(&engine, task)), TaskResultStatus::Cancelled);
    assert_eq!(court.performed(), Vec::<String>::new());
    assert!(matches!(court.approval(&engine, asked.card.card_id), ApprovalState::Withdrawn { .. }));
}

#[test]
fn a_card_that_nobody_put_is_refused_and_noted() {
    let court = one_risky_call();
    let engine = court.process();
    let (_, asked) = court.park(&engine);
    let unknown = CardId::new(Wall::from_millis(1), 1);
    assert_ne!(asked.card.card_id, unknown);
    refused(&court, &engine, unknown, yes(), &Rejected::NotRequested);
}

/// To another tenant the card is not there. The control: its own tenant answers it.
#[test]
fn a_card_of_another_tenant_is_refused_and_noted_with_whoever_tried() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    let stranger = engine.for_tenant(Tenant::new("stranger"));
    assert!(court.wait(stranger.cards()).unwrap().is_empty());
    let answered = court.wait(stranger.answer(asked.card.card_id, yes(), &owner_key()));
    assert!(matches!(answered, Err(Error::Card(Rejected::NotRequested))), "{answered:?}");
    assert_eq!(court.decisions(&stranger), ["approval refused"]);
    assert_eq!(court.decisions(&engine), Vec::<String>::new());
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
    court.approve(&engine, asked.card.card_id);
    finished(court.drive(&engine, task));
    assert_eq!(court.performed().len(), 1);
}

/// What is left of a card that lapsed: the call is refused, and the card is neither asked nor timed any more.
fn lapsed(court: &Court, engine: &Engine, task: TaskId, card: CardId) {
    assert_eq!(finished(court.drive(engine, task)), TaskResultStatus::Completed);
    let results = court.results(engine, task);
    assert_eq!(results[0].status, CallStatus::Denied);
    assert_eq!(results[0].content, "not done: it needs a person's approval, and nobody answered in time");
    assert_eq!(court.stations(card), ["requested", "expired"]);
    assert_eq!(court.decisions(engine), ["approval timeout", "gateblock denied"]);
    assert!(court.wait(engine.cards()).unwrap().is_empty());
    assert!(court.wait(court.store.timers_due(None, court.wall() + 30 * DAY, 10)).unwrap().is_empty());
    let review = court.store.mailbox(&Tenant::local(), "review", court.wall(), 10);
    assert!(court.wait(review).unwrap().is_empty());
    refused(court, engine, card, yes(), &Rejected::CardExpired);
    assert_eq!(court.performed(), Vec::<String>::new());
}

#[test]
fn approval_timeout_card_expiry_and_cleanup() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    court.jump(DAY - Duration::from_secs(60));
    court.work(&court.process());
    assert_eq!(court.stations(asked.card.card_id), ["requested"], "not a minute too soon");
    court.jump(Duration::from_secs(60));
    court.work(&court.process());
    lapsed(&court, &engine, task, asked.card.card_id);
    costs_nothing(&court, task);
}

#[test]
fn a_card_lapses_when_its_task_is_driven_though_no_worker_was_there() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    court.jump(DAY);
    lapsed(&court, &engine, task, asked.card.card_id);
}

/// The time on the card counts, not whether somebody has noticed.
#[test]
fn an_answer_that_is_late_by_a_moment_is_refused_before_any_timer_fired() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    court.jump(DAY);
    assert!(court.wait(engine.cards()).unwrap().is_empty());
    refused(&court, &engine, asked.card.card_id, yes(), &Rejected::CardExpired);
    assert_eq!(court.performed(), Vec::<String>::new());
    assert_eq!(finished(court.drive(&engine, task)), TaskResultStatus::Completed);
}

/// A day of waiting for a person is not the agent's time.
#[test]
fn waiting_costs_none_of_the_tasks_time() {
    let court = one_risky_call();
    let engine = court.process_with(|parts| parts.law.card_lifetime = 30 * DAY);
    let (task, asked) = court.park(&engine);
    court.jump(7 * DAY);
    court.approve(&engine, asked.card.card_id);
    assert_eq!(finished(court.drive(&engine, task)), TaskResultStatus::Completed);
    assert_eq!(court.performed().len(), 1);
    let noted = court.wait(engine.audit(Position(0))).unwrap().records;
    assert!(noted.iter().all(|record| record.event.scope_id == Tenant::local()));
}

/// Two questions at once are answered in any order; each answer lets its own call run and no other.
#[test]
fn calls_that_were_asked_about_together_are_answered_in_any_order() {
    let court = Court::new(vec![vec![bash("rm one"), bash("rm two"), bash("rm three")]]);
    court.things.ask_in_batches();
    let engine = court.process();
    let task = court.submit(&engine);
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
    let cards = court.wait(engine.cards()).unwrap();
    let card = |intent: &str| cards.iter().find(|asked| asked.card.intent == intent).unwrap().card.card_id;
    assert_eq!(cards.len(), 3);
    court.approve(&engine, card("run rm two"));
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
    assert_eq!(court.performed(), [r#"bash {"command":"rm two"}"#]);
    court.answer(&engine, card("run rm three"), no("")).unwrap();
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
    court.approve(&engine, card("run rm one"));
    assert_eq!(finished(court.drive(&engine, task)), TaskResultStatus::Completed);
    assert_eq!(court.performed(), [r#"bash {"command":"rm two"}"#, r#"bash {"command":"rm one"}"#]);
    assert_eq!(court.interruptions(&engine, task), 0);
    costs_nothing(&court, task);
}

/// Whose card it is does not matter to a worker; what is left of it stands with its own tenant.
#[test]
fn a_worker_lets_every_tenants_cards_lapse() {
    let court = one_risky_call();
    let other = court.process().for_tenant(Tenant::new("other"));
    let (task, asked) = court.park(&other);
    court.jump(DAY);
    let worker = court.process();
    court.work(&worker);
    assert!(matches!(court.approval(&other, asked.card.card_id), ApprovalState::Expired { .. }));
    assert_eq!(court.decisions(&other), ["approval timeout", "gateblock denied"]);
    assert_eq!(court.decisions(&worker), Vec::<String>::new());
    assert_eq!(finished(court.drive(&other, task)), TaskResultStatus::Completed);
}

/// Who pauses what waits does not answer it; who answers what is paused does not wake it.
#[test]
fn a_task_that_waits_can_be_paused_and_answered_meanwhile() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    court.wait(engine.ask_to_pause(task, "later")).unwrap();
    court.work(&court.process());
    court.approve(&engine, asked.card.card_id);
    court.work(&court.process());
    assert_eq!((court.performed().len(), court.work_for(task)), (0, vec![]));
    assert_eq!(finished(court.drive(&engine, task)), TaskResultStatus::Completed, "resumed by hand");
    assert_eq!(court.performed().len(), 1);
}

/// Nothing that a person types reaches the disk with a secret in it: not the note, not the audit.
#[test]
fn a_secret_in_an_answer_is_kept_nowhere() {
    const SECRET: &str = "hunter2hunter2secret";
    let court = one_risky_call();
    let redactor = || Redactor::new([&Secret::new(SECRET)]);
    let engine = court.process_with(|parts| parts.redactor = redactor());
    let (task, asked) = court.park(&engine);
    let note = format!("use {SECRET} instead");
    court.answer(&engine, asked.card.card_id, no(&note)).unwrap();
    let late = Answer { by: SECRET.to_owned(), ..no(&note) };
    assert!(court.answer(&engine, asked.card.card_id, late).is_err());
    finished(court.drive(&engine, task));
    let rows = court.wait(court.store.events(&Tenant::local(), Position(0), 1_000)).unwrap();
    let leaks: Vec<_> = rows.iter().filter(|row| row.data.contains(SECRET)).collect();
    assert!(leaks.is_empty(), "{leaks:?}");
    assert!(rows.iter().any(|row| row.data.contains("instead")), "the rest of the note is there");
}

/// To a stranger there is no such task: nothing of it is seen, told or driven.
#[test]
fn another_tenant_can_neither_see_nor_stop_nor_drive_what_waits() {
    let court = one_risky_call();
    let engine = court.process();
    let (task, _) = court.park(&engine);
    let stranger = engine.for_tenant(Tenant::new("stranger"));
    let absent = |outcome: Result<(), Error>| assert!(matches!(outcome, Err(Error::NoSuchTask(_))), "{outcome:?}");
    absent(court.wait(stranger.task(task)).map(drop));
    absent(court.wait(stranger.story(task)).map(drop));
    absent(court.wait(stranger.ask_to_cancel(task, "mine")));
    absent(court.wait(stranger.ask_to_pause(task, "mine")));
    absent(court.wait(stranger.drive(task, Arc::new(NobodyWatches))).map(drop));
    assert!(court.wait(stranger.task_ids(10)).unwrap().is_empty());
    assert!(court.wait(stranger.audit(Position(0))).unwrap().records.is_empty());
    assert!(court.wait(engine.ask_to_cancel(task, "mine")).is_ok(), "the control");
}

/// A card that this version cannot read stays where it is, for one that can; it stands in nobody's way.
#[test]
fn a_card_that_cannot_be_read_holds_up_no_other() {
    let court = one_risky_call();
    let engine = court.process();
    let (strange, unreadable) = court.park(&engine);
    let data = serde_json::value::to_raw_value(&serde_json::json!({})).unwrap();
    let from_the_future = Encoded { kind: "approval.decided", version: 99, data, since: 1, older: &[] };
    court.forge(&StreamId::new("approval", unreadable.card.card_id), from_the_future);
    let (plain, asked) = court.park(&engine);
    assert_ne!((strange, unreadable.card.card_id), (plain, asked.card.card_id));
    court.jump(DAY);
    court.work(&court.process());
    assert_eq!(court.stations(asked.card.card_id), ["requested", "expired"]);
    assert_eq!(finished(court.drive(&engine, plain)), TaskResultStatus::Completed);
    assert_eq!(court.stations(unreadable.card.card_id), ["requested", "decided"], "and it is as it was");
}
