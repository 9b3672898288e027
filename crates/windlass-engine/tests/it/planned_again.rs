//! A planner that plans once more what failed, or what a person wants changed: it is told so once, and after that there is no plan.

use windlass_domain::approval::{Answer, Verdict};
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::{Role, TaskId};
use windlass_engine::{Driven, Engine};

use crate::court::{Court, yes};
use crate::planned::{THREE, finished, given};

const ONCE: &str = "---
id: once
type: task
title: Write it right
budget: { max_attempts: 1 }
verify: [{ file: right.txt }]
---
# What to do
Write it.
";

/// What a planner was told of its last word, in the order that it was.
pub fn handed_back(court: &Court, engine: &Engine) -> Vec<String> {
    let tasks = court.wait(engine.task_ids(100)).unwrap().into_iter();
    let planners = tasks.filter(|task| {
        let created = court.wait(engine.task(*task)).unwrap().created;
        created.is_some_and(|created| created.role == Role::Planner)
    });
    let words = |event| match event {
        ExecutionEvent::InjectionReceived(received) if received.injection.is_repair() => {
            Some(received.injection.content)
        }
        _ => None,
    };
    planners.flat_map(|task| court.execution_events(engine, task)).filter_map(words).collect()
}

/// Drives a plan whose one item nobody can do, until there is another plan or none. The planner says this, word by word.
fn fail_once(court: &Court, engine: &Engine, planner: &[&str]) -> (TaskId, Driven) {
    court.things.cast("Write it right", vec![vec![]], "I cannot.");
    court.things.cast_turns("", planner.iter().map(|word| (Vec::new(), *word)).collect());
    let task = given(court, engine, ONCE);
    court.drive(engine, task);
    court.approve(engine, court.only_card(engine).card.card_id);
    (task, court.drive(engine, task))
}

/// Under other names it is the same plan.
fn renamed() -> String {
    ONCE.replace("id: once", "id: twice").replace("Write it right", "Write it right this time")
}

#[test]
fn a_planner_that_plans_again_what_failed_is_told_once_and_then_sees_no_other_way() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let (task, driven) = fail_once(&court, &engine, &[&renamed()]);
    let told = handed_back(&court, &engine);
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert!(
        told.contains(
            "this is the plan that failed before (revision 1): do something different, or say that it cannot be done"
        ),
        "{told}"
    );
    let result = finished(driven);
    let error = result.error_details.expect("a reason");
    let expected = "the planner sees no other way: what it wrote is the plan that failed before (revision 1)";
    assert!(error.message.starts_with(expected), "{error:?}");
    assert!(error.hint.is_some(), "{error:?}");
    assert!(court.wait(engine.cards()).unwrap().is_empty(), "nobody is asked about it again");
    assert_eq!(court.wait(engine.graph(task)).unwrap().revision, 2);
}

#[test]
fn a_planner_that_is_told_and_plans_something_else_is_heard() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let other = ONCE.replace("# What to do\nWrite it.", "# What to do\nWrite it with a pen.");
    assert_ne!(other, ONCE);
    let (task, driven) = fail_once(&court, &engine, &[&renamed(), &other]);
    assert!(matches!(driven, Driven::Waiting(_)), "{driven:?}");
    assert_eq!(handed_back(&court, &engine).len(), 1);
    let plan = court.wait(engine.graph(task)).unwrap().plan.expect("a plan");
    assert_eq!(plan.0.briefing.what_to_do, "Write it with a pen.");
}

/// A person who sends a plan back wants another; that only its title is another may be what they want.
#[test]
fn a_plan_that_is_sent_back_does_not_come_back_unchanged() {
    let sent_back = |planned: &str| {
        let court = Court::new(vec![]);
        let engine = court.process();
        court.things.cast("", vec![vec![]], planned);
        let task = given(&court, &engine, THREE);
        court.drive(&engine, task);
        let edit = Answer { verdict: Verdict::EditRequested, note: "another title".to_owned(), ..yes() };
        court.answer(&engine, court.only_card(&engine).card.card_id, edit).unwrap();
        let driven = court.drive(&engine, task);
        (driven, handed_back(&court, &engine))
    };
    let (driven, told) = sent_back(THREE);
    let error = finished(driven).error_details.expect("a reason");
    let expected =
        "the planner sees no other way: what it wrote is the plan that the user wants changed, word for word";
    assert_eq!(error.message, expected);
    assert!(matches!(told.as_slice(), [told] if told.contains("do something different")), "{told:?}");
    let (driven, told) = sent_back(&THREE.replace("title: Three files", "title: All of it"));
    assert!(matches!(driven, Driven::Waiting(_)), "{driven:?}");
    assert!(told.is_empty(), "{told:?}");
}
