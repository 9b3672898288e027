//! Planned tasks, from the card to the user's folder: items in copies of their own, checked on the work of all, brought over once.

use std::sync::Arc;

use windlass_domain::graph::PlanStanding;
use windlass_domain::{TaskId, TaskResult, TaskResultStatus};
use windlass_engine::{Dispatch, Driven, Engine, NobodyWatches, Planning, Submission, read_plan};

use crate::court::{Court, no, owner_key, write, yes};

/// `a` and `b` beside each other, then `c`.
pub const THREE: &str = "---
id: three
type: project
title: Three files
tasks:
  - { id: a, type: task, title: Write a, verify: [{ file: a.txt }] }
  - { id: b, type: task, title: Write b, verify: [{ file: b.txt }] }
  - { id: c, type: task, title: Write c, depends_on: [a, b], verify: [{ file: a.txt }, { file: c.txt }] }
---
# What to do
Write the files.
";

fn submit(court: &Court, engine: &Engine, planning: Planning) -> TaskId {
    let submission = Submission { planning, ..court.submission() };
    court.wait(engine.submit(submission, Dispatch::Here, Some(&owner_key()))).unwrap()
}

pub fn given(court: &Court, engine: &Engine, document: &str) -> TaskId {
    let plan = read_plan(document).unwrap_or_else(|problems| panic!("{problems}"));
    submit(court, engine, Planning::Given(Box::new(plan)))
}

/// Drives until it asks about the plan, says yes, and drives on.
pub fn approve_and_drive(court: &Court, engine: &Engine, task: TaskId) -> TaskResult {
    let driven = court.drive(engine, task);
    assert!(matches!(driven, Driven::Waiting(_)), "{driven:?}");
    let asked = court.only_card(engine);
    assert_eq!(asked.task, task);
    court.approve(engine, asked.card.card_id);
    finished(court.drive(engine, task))
}

#[track_caller]
pub fn finished(driven: Driven) -> TaskResult {
    match driven {
        Driven::Finished(result) => result,
        other => panic!("it has not ended: {other:?}"),
    }
}

pub fn text(court: &Court, path: &str) -> Option<String> {
    std::fs::read_to_string(court.workspace().join(path)).ok()
}

pub fn three(court: &Court) {
    for name in ["a", "b", "c"] {
        let path = format!("{name}.txt");
        court.things.cast(&format!("Write {name}"), vec![vec![vec![write(&path, name)]]], &format!("{name} is there"));
    }
}

#[test]
fn a_given_plan_is_asked_about_once_worked_on_in_copies_and_brought_over_at_the_end() {
    let court = Court::new(vec![]);
    court.put("mine.txt", "before");
    three(&court);
    let engine = court.process();
    let task = given(&court, &engine, THREE);
    let driven = court.drive(&engine, task);
    assert!(matches!(&driven, Driven::Waiting(result) if result.hitl_request.is_some()), "{driven:?}");
    let asked = court.only_card(&engine);
    assert_eq!(asked.card.worst_case.map(|worst| worst.attempts), Some(15), "five for each item");
    assert!(court.performed().is_empty(), "nothing is done before the answer");
    court.approve(&engine, asked.card.card_id);
    // The user goes on working meanwhile.
    court.put("mine.txt", "after");
    let result = finished(court.drive(&engine, task));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!(court.performed().len(), 3);
    for (path, expected) in [("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c"), ("mine.txt", "after")] {
        assert_eq!(text(&court, path).as_deref(), Some(expected), "{path}");
    }
    assert!(!court.data_dir().join("worktrees").join(task.to_string()).exists());
    assert_eq!(court.things.open_sandboxes(), 0);
}

#[test]
fn a_plan_that_is_declined_changes_nothing_and_says_why() {
    let court = Court::new(vec![]);
    three(&court);
    let engine = court.process();
    let task = given(&court, &engine, THREE);
    court.drive(&engine, task);
    let card = court.only_card(&engine).card.card_id;
    court.answer(&engine, card, no("not today")).unwrap();
    let result = finished(court.drive(&engine, task));
    assert_eq!(result.status, TaskResultStatus::Failed);
    let error = result.error_details.expect("a reason");
    assert!(error.message.contains("not today"), "{error:?}");
    assert!(court.performed().is_empty());
}

#[test]
fn a_request_is_planned_by_a_planner_of_its_own() {
    let court = Court::new(vec![]);
    three(&court);
    court.things.cast("do it", vec![vec![]], THREE);
    let engine = court.process();
    let task = submit(&court, &engine, Planning::Wanted);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!(text(&court, "c.txt").as_deref(), Some("c"));
}

#[test]
fn a_planner_that_writes_no_plan_ends_the_task_with_its_reason() {
    let court = Court::new(vec![]);
    court.things.cast("do it", vec![vec![]], "I would rather not.");
    let engine = court.process();
    let task = submit(&court, &engine, Planning::Wanted);
    let result = finished(court.drive(&engine, task));
    assert_eq!(result.status, TaskResultStatus::Failed);
    assert!(result.error_details.expect("a reason").message.contains("no plan"));
}

pub const STUCK: &str = "---
id: stuck
type: task
title: Write it right
verify: [{ file: right.txt }]
---
# What to do
Write it.
";

/// Seed 001 §5.2.3: the first retry has the failure, the next one the planner's word.
#[test]
fn an_item_that_is_stuck_hears_the_planner_before_its_third_attempt() {
    let court = Court::new(vec![]);
    let attempt = |path: &str| vec![vec![write(path, "it")]];
    let attempts = vec![attempt("wrong.txt"), attempt("wrong_again.txt"), attempt("right.txt")];
    court.things.cast("Write it right", attempts, "written");
    court.things.cast("An item of your plan is stuck", vec![vec![]], "write the word right");
    let engine = court.process();
    let task = given(&court, &engine, STUCK);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!(text(&court, "right.txt").as_deref(), Some("it"));
    assert_eq!(text(&court, "wrong.txt"), None, "an attempt begins with the work of all, not with another's");
    let graph = court.wait(engine.graph(task)).unwrap();
    assert_eq!(graph.standing, PlanStanding::Approved);
    let progress = graph.atoms.values().next().expect("one item");
    let run = progress.runs[0].task;
    let ended = progress.runs[0].ended.as_ref().expect("it has ended");
    let salvaged: Vec<u32> = ended.salvaged.iter().map(|salvage| salvage.attempt).collect();
    assert_eq!(salvaged, [1, 2], "what did not become part of the work is kept");
    let state = court.wait(engine.task(run)).unwrap();
    assert_eq!((state.attempts.len(), state.guidance()), (3, vec!["write the word right".to_owned()]));
}

const SAME: &str = "---
id: same
type: project
title: The same file twice
tasks:
  - { id: one, type: task, title: First writer, verify: [{ file: shared.txt }] }
  - { id: two, type: task, title: Second writer, verify: [{ file: shared.txt }] }
---
# What to do
Write.
";

/// Neither says what it touches: whoever comes second has a conflict, and begins again from the work of the first.
#[test]
fn two_that_change_the_same_do_so_one_after_the_other() {
    let court = Court::new(vec![]);
    court.put("shared.txt", "base\n");
    for (title, word) in [("First writer", "first"), ("Second writer", "second")] {
        court.things.cast(title, vec![vec![vec![write("shared.txt", word)]]], word);
    }
    let engine = court.process();
    let task = given(&court, &engine, SAME);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
    assert_eq!(court.performed().len(), 3, "one of them had to do it again");
    assert!(["first", "second"].contains(&text(&court, "shared.txt").unwrap().as_str()));
}

#[test]
fn what_the_user_changed_meanwhile_is_never_overwritten() {
    let court = Court::new(vec![]);
    court.put("a.txt", "theirs\n");
    three(&court);
    let engine = court.process();
    let task = given(&court, &engine, THREE);
    court.drive(&engine, task);
    let card = court.only_card(&engine).card.card_id;
    court.approve(&engine, card);
    court.put("a.txt", "changed by the user\n");
    let Driven::Paused(result) = court.drive(&engine, task) else { panic!("it should wait for the user") };
    let error = result.error_details.expect("a reason");
    assert!(error.message.contains("a.txt"), "{error:?}");
    assert_eq!(text(&court, "a.txt").as_deref(), Some("changed by the user\n"));
    assert_eq!(text(&court, "b.txt"), None, "all of it or nothing");
    court.put("a.txt", "theirs\n");
    let result = finished(court.drive(&engine, task));
    assert_eq!(result.status, TaskResultStatus::Completed);
    assert_eq!(text(&court, "a.txt").as_deref(), Some("a"));
}

#[test]
fn workers_carry_out_a_plan_with_nobody_waiting_for_it() {
    let court = Court::new(vec![]);
    three(&court);
    let engine = court.process();
    let plan = read_plan(THREE).unwrap_or_else(|problems| panic!("{problems}"));
    let submission = Submission { planning: Planning::Given(Box::new(plan)), ..court.submission() };
    let task = court.wait(engine.submit(submission, Dispatch::ToWorkers, Some(&owner_key()))).unwrap();
    court.work(&engine);
    let card = court.only_card(&engine).card.card_id;
    court.answer(&engine, card, yes()).unwrap();
    court.work(&engine);
    let result = court.wait(engine.task(task)).unwrap().result.expect("it has ended");
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!(text(&court, "c.txt").as_deref(), Some("c"));
}

#[test]
fn a_cancelled_plan_leaves_nobody_at_work() {
    let court = Court::new(vec![]);
    three(&court);
    let engine = court.process();
    let task = given(&court, &engine, THREE);
    court.drive(&engine, task);
    court.wait(engine.ask_to_cancel(task, "enough")).unwrap();
    let result = finished(court.drive(&engine, task));
    assert_eq!(result.status, TaskResultStatus::Cancelled);
    assert!(court.performed().is_empty());
    let again = court.wait(engine.drive(task, Arc::new(NobodyWatches))).unwrap();
    assert!(matches!(again, Driven::Finished(_)));
}
