//! A run begins on its issuer's signed word, and what was asked for is compared with what is about to run at every entrance.
//! The attack edits the task where it is stored; the control is a task that nobody signed for, which runs as edited; the
//! twin is signed and not edited.

use std::time::Duration;

use windlass_domain::approval::{ApprovalEvent, Nonce, Verified};
use windlass_domain::task::{TaskCreated, TaskEvent};
use windlass_domain::{ErrorCode, TaskId, TaskResultStatus, Usd};
use windlass_engine::{Dispatch, Driven, Engine};
use windlass_store::StreamId;

use crate::court::{Court, bash, owner_key, read};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn created(court: &Court, engine: &Engine, task: TaskId) -> TaskCreated {
    court.wait(engine.task(task)).unwrap().created.unwrap()
}

/// How a task ends that is edited in the store before it is driven.
fn end_of_edited(edit: impl FnOnce(&mut TaskCreated), sign: bool) -> (Driven, Vec<String>, usize) {
    let court = Court::new(vec![vec![read("notes")]]);
    court.put("notes", "text");
    let engine = court.process();
    let task = if sign { court.submit_signed(&engine) } else { court.submit(&engine) };
    let mut edited = created(&court, &engine, task);
    edit(&mut edited);
    court.forge_task(task, TaskEvent::Created(edited));
    let driven = court.drive(&engine, task);
    (driven, court.decisions(&engine), court.performed().len())
}

#[test]
fn a_signed_run_that_was_not_edited_begins_and_its_word_is_spent_once() {
    let court = Court::new(vec![vec![read("notes")]]);
    let engine = court.process();
    let task = court.submit_signed(&engine);
    let driven = court.drive(&engine, task);
    assert_eq!(driven.result().status, TaskResultStatus::Completed);
    assert_eq!(court.decisions(&engine), ["approval approved", "verify verified", "check passed"]);
    let card = created(&court, &engine, task).approval.unwrap();
    let stations = ["requested", "decided", "issued", "verified", "attached", "checked", "executed"];
    assert_eq!((court.stations(card).as_slice(), court.performed().len()), (stations.map(str::to_owned).as_slice(), 1));
}

#[test]
fn a_run_that_grew_in_the_store_is_refused() {
    type Edit = (&'static str, fn(&mut TaskCreated));
    let edits: [Edit; 10] = [
        ("attempts", |task| task.budget.max_attempts += 1),
        ("tokens", |task| task.budget.max_tokens += 1),
        ("money", |task| task.budget.max_cost_usd = Usd::from_nanos(3_000_000_000)),
        ("goal", |task| task.command.goal.push('!')),
        ("constraints", |task| task.command.constraints.push("none".to_owned())),
        ("sandbox", |task| task.sandbox = "process".to_owned()),
        ("model", |task| task.command.execution_config.model.push('x')),
        ("iterations", |task| task.command.execution_config.max_iterations += 1),
        ("agent", |task| task.agent_id = "planner".to_owned()),
        ("workspace", |task| task.workspace.push_str("/sub")),
    ];
    for (what, edit) in edits {
        let (driven, decisions, performed) = end_of_edited(edit, true);
        let error = driven.result().error_details.clone().unwrap();
        assert_eq!(error.error_code, ErrorCode::ApprovalDenied, "{what}");
        assert!(error.message.contains("the plan is not the one that was approved"), "{what}: {}", error.message);
        assert_eq!((decisions.last().unwrap().as_str(), performed), ("verify refused", 0), "{what}");
    }
    let (driven, _, performed) = end_of_edited(|task| task.command.goal.push('!'), false);
    assert_eq!((driven.result().status, performed), (TaskResultStatus::Completed, 1), "the control");
}

#[test]
fn checks_that_were_edited_are_refused() {
    let court = Court::new(vec![vec![read("notes")]]);
    court.put("notes", "text");
    let engine = court.process();
    let checks = |checks| windlass_plan::parse_base_case(checks).unwrap();
    let submission = windlass_engine::Submission { base_case: checks("- not_file: notes"), ..court.submission() };
    let task = court.wait(engine.submit(submission, Dispatch::Here, Some(&owner_key()))).unwrap();
    let mut edited = created(&court, &engine, task);
    edited.base_case = checks("- file: notes");
    court.forge_task(task, TaskEvent::Created(edited));
    let error = court.drive(&engine, task).result().error_details.clone().unwrap();
    assert_eq!((error.error_code, court.performed().len()), (ErrorCode::ApprovalDenied, 0));
}

#[test]
fn a_word_that_has_expired_begins_nothing() {
    let court = Court::new(vec![vec![read("notes")]]);
    let engine = court.process();
    let task = court.submit_signed(&engine);
    court.jump(31 * DAY);
    let error = court.drive(&engine, task).result().error_details.clone().unwrap();
    assert_eq!((error.error_code, court.performed().len()), (ErrorCode::ApprovalDenied, 0));
    assert!(error.message.contains("the token has expired"), "{}", error.message);
}

#[test]
fn a_word_whose_uses_are_spent_begins_nothing() {
    let court = Court::new(vec![vec![read("notes")]]);
    let engine = court.process();
    let task = court.submit_signed(&engine);
    let card = created(&court, &engine, task).approval.unwrap();
    for slot in 0..2 {
        let used = Verified { execution_nonce: Nonce::new(u128::from(slot)), slot };
        court.forge(&StreamId::new("approval", card), ApprovalEvent::Verified(used).encode());
    }
    let error = court.drive(&engine, task).result().error_details.clone().unwrap();
    assert_eq!((error.error_code, court.performed().len()), (ErrorCode::ApprovalDenied, 0));
    assert!(error.message.contains("all 2 uses of the token are spent"), "{}", error.message);
}

/// An attempt that is entered again is compared again, and spends nothing, not even after the word has expired.
#[test]
fn an_attempt_that_is_entered_again_is_checked_again() {
    let enter = |edit: Option<fn(&mut TaskCreated)>| {
        let court = Court::new(vec![vec![bash("rm notes")]]);
        let engine = court.process_with(|parts| parts.law.card_lifetime = 90 * DAY);
        let task = court.submit_signed(&engine);
        assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)));
        let asked = court.only_card(&engine).card.card_id;
        court.jump(31 * DAY);
        court.approve(&engine, asked);
        if let Some(edit) = edit {
            let mut edited = created(&court, &engine, task);
            edit(&mut edited);
            court.forge_task(task, TaskEvent::Created(edited));
        }
        let result = court.drive(&engine, task).result().clone();
        (result, court.performed().len(), court.decisions(&engine))
    };
    let (result, performed, decisions) = enter(None);
    assert_eq!((result.status, performed), (TaskResultStatus::Completed, 1));
    assert_eq!(decisions.iter().filter(|decision| *decision == "check passed").count(), 3, "{decisions:?}");
    let (result, performed, decisions) = enter(Some(|task| task.command.goal.push('!')));
    assert_eq!((result.error_details.unwrap().error_code, performed), (ErrorCode::ApprovalDenied, 0));
    assert!(decisions.contains(&"check refused".to_owned()), "{decisions:?}");
}
