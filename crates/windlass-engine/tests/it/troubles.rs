//! What a plan says about trouble, carried out: a person is asked instead of the planner, for one attempt more than there are, before
//! every change; a trouble is reported at once; and what a gate has stopped is not taken, whatever checks say.

use std::time::Duration;

use windlass_domain::approval::{Answer, ApprovalState, Verdict};
use windlass_domain::graph::GraphState;
use windlass_domain::plan::AtomId;
use windlass_domain::task::TaskState;
use windlass_domain::{ErrorCode, TaskId, TaskResultStatus};
use windlass_engine::{Asked, Driven, Engine};

use crate::court::{Ask, Court, no, read, write, yes};
use crate::planned::{approve_and_drive, finished, given, text};

/// One item, `it`, that wants `right.txt`, and says this besides.
fn item(more: &str) -> String {
    format!(
        "---\nid: it\ntype: task\ntitle: Write it right\nverify: [{{ file: right.txt }}]\n{more}---\n# What to do\nWrite it.\n"
    )
}

fn attempts(paths: &[&str]) -> Vec<Vec<Vec<Ask>>> {
    paths.iter().map(|path| vec![vec![write(path, "it")]]).collect()
}

/// Whose attempts write these, one after the other.
fn writing(paths: &[&str]) -> Court {
    let court = Court::new(vec![]);
    court.things.cast("Write it right", attempts(paths), "written");
    court
}

/// Agrees to the plan, and drives until somebody is asked again.
fn until_asked(court: &Court, engine: &Engine, document: &str) -> (TaskId, Asked) {
    let task = given(court, engine, document);
    court.drive(engine, task);
    court.approve(engine, court.only_card(engine).card.card_id);
    let driven = court.drive(engine, task);
    assert!(matches!(&driven, Driven::Waiting(result) if result.hitl_request.is_some()), "{driven:?}");
    (task, court.only_card(engine))
}

fn graph(court: &Court, engine: &Engine, task: TaskId) -> GraphState {
    court.wait(engine.graph(task)).unwrap()
}

fn run_of(court: &Court, engine: &Engine, task: TaskId) -> TaskState {
    let graph = graph(court, engine, task);
    let run = graph.progress(&AtomId::parse("it").unwrap()).unwrap().runs[0].task;
    court.wait(engine.task(run)).unwrap()
}

fn edit(note: &str) -> Answer {
    Answer { verdict: Verdict::EditRequested, note: note.to_owned(), ..yes() }
}

#[test]
fn a_person_is_asked_instead_of_the_planner_and_what_they_say_is_guidance() {
    let court = writing(&["wrong.txt", "wrong_again.txt", "right.txt"]);
    let engine = court.process();
    let (task, asked) = until_asked(&court, &engine, &item("on_stuck: escalate_human\n"));
    assert_eq!(court.performed().len(), 2);
    let card = &asked.card;
    assert_eq!(card.details["item"], serde_json::json!({"id": "it", "title": "Write it right"}));
    assert!(card.intent.contains("attempt 3 of `it`") && card.rationale.contains("right.txt"), "{card:?}");
    court.answer(&engine, card.card_id, edit("write the word right")).unwrap();
    let result = finished(court.drive(&engine, task));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    let state = run_of(&court, &engine, task);
    assert_eq!(state.guidance(), ["A person says: write the word right"]);
    assert!(state.consults.is_empty());
}

#[test]
fn a_no_gives_the_item_up() {
    let court = writing(&["wrong.txt"]);
    let engine = court.process();
    let (task, asked) = until_asked(&court, &engine, &item("on_stuck: escalate_human\n"));
    court.answer(&engine, asked.card.card_id, no("it is the wrong file")).unwrap();
    court.drive(&engine, task);
    let result = run_of(&court, &engine, task).result.expect("it has ended");
    let error = result.error_details.expect("a reason");
    assert!(error.message.contains("gave it up") && error.message.contains("it is the wrong file"), "{error:?}");
    assert_eq!(court.performed().len(), 2);
}

#[test]
fn nobody_s_answer_gives_the_item_up_when_its_time_is_over() {
    let court = Court::in_still_time(vec![]);
    court.things.cast("Write it right", attempts(&["wrong.txt"]), "written");
    let engine = court.process();
    let (task, _) = until_asked(&court, &engine, &item("on_stuck: escalate_human\n"));
    court.jump(Duration::from_secs(25 * 60 * 60));
    court.drive(&engine, task);
    let error = run_of(&court, &engine, task).result.expect("it has ended").error_details.expect("a reason");
    assert!(error.message.contains("nobody answered in time"), "{error:?}");
}

#[test]
fn whoever_cancels_the_plan_takes_the_question_back() {
    let court = writing(&["wrong.txt"]);
    let engine = court.process();
    let (task, asked) = until_asked(&court, &engine, &item("on_stuck: escalate_human\n"));
    court.wait(engine.ask_to_cancel(task, "enough")).unwrap();
    assert_eq!(finished(court.drive(&engine, task)).status, TaskResultStatus::Cancelled);
    assert!(court.wait(engine.cards()).unwrap().is_empty());
    let (approval, _) = court.wait(engine.card(asked.card.card_id)).unwrap();
    assert!(matches!(approval, ApprovalState::Withdrawn { .. }), "{approval:?}");
}

/// The plan's token is for as many attempts as the plan has: one more begins on the yes to it, which is used for that.
#[test]
fn a_person_allows_one_attempt_more_than_the_plan_does() {
    let court = writing(&["wrong.txt", "right.txt"]);
    let engine = court.process();
    let document = item("on_failure: escalate_human\nbudget: {max_attempts: 1}\n");
    let (task, asked) = until_asked(&court, &engine, &document);
    assert!(asked.card.intent.contains("one attempt more"), "{:?}", asked.card);
    assert_eq!(asked.card.worst_case.map(|worst| worst.attempts), Some(1));
    court.approve(&engine, asked.card.card_id);
    let result = finished(court.drive(&engine, task));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    let (approval, _) = court.wait(engine.card(asked.card.card_id)).unwrap();
    assert!(matches!(&approval, ApprovalState::Issued { uses, .. } if uses.len() == 1), "{approval:?}");
}

#[test]
fn without_such_a_word_nobody_is_asked_and_the_item_fails() {
    let court = writing(&["wrong.txt", "right.txt"]);
    let engine = court.process();
    let task = given(&court, &engine, &item("budget: {max_attempts: 1}\n"));
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!(result.status, TaskResultStatus::Failed, "{result:?}");
    assert_eq!(court.performed().len(), 1);
}

#[test]
fn a_trouble_that_is_to_be_reported_is_not_tried_again() {
    let court = writing(&["wrong.txt", "right.txt"]);
    let engine = court.process();
    let task = given(&court, &engine, &item("escalation: {verification_failed: report}\n"));
    approve_and_drive(&court, &engine, task);
    assert_eq!(court.performed().len(), 1);
    assert_eq!(run_of(&court, &engine, task).attempts.len(), 1);
}

/// `asking` has it, and `free` does the same without.
const CONFIRMED: &str = "---
id: two
type: project
title: Two
tasks:
  - {id: asking, type: task, title: Asking, interaction_mode: confirm_always}
  - {id: free, type: task, title: Free}
---
# What to do
Both.
";

#[test]
fn every_change_of_an_item_that_wants_it_has_a_card_of_its_own() {
    let court = Court::new(vec![]);
    for (title, folder) in [("Asking", "a"), ("Free", "b")] {
        let steps = ["1", "2"].map(|name| vec![read("mine.txt"), write(&format!("{folder}/{name}"), "it")]);
        court.things.cast(title, vec![steps.to_vec()], "done");
    }
    let engine = court.process();
    let (task, first) = until_asked(&court, &engine, CONFIRMED);
    assert_eq!((&first.card.details["tool"], &first.card.details["item"]["id"]), (&"write".into(), &"asking".into()));
    assert!(first.card.details["reasons"][0].as_str().unwrap().contains("confirm_always"), "{:?}", first.card);
    court.approve(&engine, first.card.card_id);
    assert!(matches!(court.drive(&engine, task), Driven::Waiting(_)), "the second change asks as well");
    let second = court.only_card(&engine);
    assert_ne!(second.card.card_id, first.card.card_id);
    court.approve(&engine, second.card.card_id);
    assert_eq!(finished(court.drive(&engine, task)).status, TaskResultStatus::Completed);
    assert_eq!(text(&court, "a/2").as_deref(), Some("it"));
}

/// Contracts §4: the first block decides. The item beside it, without the gate, is the control.
#[test]
fn work_that_a_gate_has_stopped_is_not_taken_though_its_check_would_pass() {
    let court = Court::new(vec![]);
    court.put("page", "forbidden");
    for (title, path) in [("Gated", "a.txt"), ("Free", "b.txt")] {
        court.things.cast(title, vec![vec![vec![write(path, "it")], vec![read("page")]]], "done");
    }
    let engine = court.process();
    let gate = "{name: no, on: after_step, type: string_match, config: {field: step.content, any_of: [forbidden]}}";
    let document = format!(
        "---\nid: two\ntype: project\ntitle: Two\ntasks:\n  - {{id: gated, type: task, title: Gated, gates: [{gate}], verify: \
         [{{file: a.txt}}], budget: {{max_attempts: 1}}}}\n  - {{id: free, type: task, title: Free, verify: [{{file: \
         b.txt}}]}}\n---\n# What to do\nBoth.\n"
    );
    let task = given(&court, &engine, &document);
    approve_and_drive(&court, &engine, task);
    let graph = graph(&court, &engine, task);
    let [gated, free] = ["gated", "free"].map(|atom| graph.progress(&AtomId::parse(atom).unwrap()).unwrap());
    assert_eq!(gated.failure().map(|error| error.error_code), Some(ErrorCode::GateBlocked));
    assert!(free.binding().is_some());
    assert_eq!(text(&court, "a.txt"), None);
}
