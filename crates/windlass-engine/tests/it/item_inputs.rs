//! What items deliver reaches those that name them in `input_artifacts_from`, and those of a plan that follows theirs; nobody else,
//! and it is no part of anybody's work.

use windlass_domain::plan::AtomId;
use windlass_domain::{TaskId, TaskResultStatus};
use windlass_engine::{Dispatch, Engine, Error, Planning, Submission, read_plan};

use crate::court::{Court, owner_key, read, write};
use crate::planned::{approve_and_drive, given, text};
use crate::planned_again::handed_back;

const CHAIN: &str = "---
id: chain
type: project
title: A chain
tasks:
  - { id: maker, type: task, title: Maker }
  - { id: taker, type: task, title: Taker, depends_on: [maker], input_artifacts_from: [maker] }
  - { id: other, type: task, title: Other, depends_on: [maker] }
---
# What to do
Make and take.
";

const NEXT: &str = "---
id: next
type: task
title: Next
follow_up_of: chain
---
# What to do
Go on.
";

/// What the one call of an item's came to.
fn read_by(court: &Court, engine: &Engine, task: TaskId, atom: &str) -> String {
    let graph = court.wait(engine.graph(task)).unwrap();
    let run = graph.progress(&AtomId::parse(atom).unwrap()).unwrap().runs[0].task;
    court.results(engine, run)[0].content.clone()
}

fn chain(court: &Court, engine: &Engine) -> TaskId {
    court.things.cast("Maker", vec![vec![vec![write("output/report.txt", "what was found")]]], "made");
    for title in ["Taker", "Other"] {
        court.things.cast(title, vec![vec![vec![read(".inputs/maker/report.txt")]]], "read");
    }
    let task = given(court, engine, CHAIN);
    let result = approve_and_drive(court, engine, task);
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
    task
}

#[test]
fn what_an_item_delivers_reaches_who_names_it_and_nobody_else() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let task = chain(&court, &engine);
    assert_eq!(read_by(&court, &engine, task, "taker"), "what was found");
    assert_eq!(read_by(&court, &engine, task, "other"), "ran", "there is no such file");
    assert_eq!(text(&court, ".inputs/maker/report.txt"), None, "what is given is no part of the work");
    assert_eq!(text(&court, "output/report.txt"), None);
}

const WAYS: &str = "---
id: ways
type: project
title: Two ways
tasks:
  - id: first
    type: project
    title: The first way
    any_of: way
    tasks:
      - { id: half, type: task, title: Half of it }
      - { id: rest, type: task, title: The rest of it, depends_on: [half], budget: { max_attempts: 1 }, verify: [{ file: never.txt }] }
  - { id: second, type: task, title: The second way, any_of: way }
  - { id: taker, type: task, title: Taker, depends_on: [way], input_artifacts_from: [way] }
---
# What to do
Make and take.
";

#[test]
fn what_a_way_delivered_that_was_given_up_reaches_nobody() {
    let court = Court::new(vec![]);
    let engine = court.process();
    court.things.cast("Half of it", vec![vec![vec![write("output/report.txt", "half")]]], "made");
    court.things.cast("The rest of it", vec![vec![]], "I cannot.");
    court.things.cast("The second way", vec![vec![vec![write("output/report.txt", "whole")]]], "made");
    let both = vec![vec![read(".inputs/half/report.txt")], vec![read(".inputs/second/report.txt")]];
    court.things.cast("Taker", vec![both], "read");
    let task = given(&court, &engine, WAYS);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
    let graph = court.wait(engine.graph(task)).unwrap();
    let run = graph.progress(&AtomId::parse("taker").unwrap()).unwrap().runs[0].task;
    let found: Vec<String> = court.results(&engine, run).iter().map(|result| result.content.clone()).collect();
    assert_eq!(found, ["ran", "whole"], "there is no file of the way that was given up");
}

#[test]
fn a_plan_that_follows_another_is_given_what_that_delivered() {
    let court = Court::new(vec![]);
    let engine = court.process();
    chain(&court, &engine);
    court.things.cast("Next", vec![vec![vec![read(".inputs/earlier.chain/maker/report.txt")]]], "read");
    let task = given(&court, &engine, NEXT);
    approve_and_drive(&court, &engine, task);
    assert_eq!(read_by(&court, &engine, task, "next"), "what was found");
}

#[test]
fn a_plan_that_follows_nothing_is_refused_before_anything_is_done() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let plan = read_plan(NEXT).unwrap_or_else(|problems| panic!("{problems}"));
    let submission = Submission { planning: Planning::Given(Box::new(plan)), ..court.submission() };
    let refused = court.wait(engine.submit(submission, Dispatch::Here, Some(&owner_key())));
    assert!(matches!(&refused, Err(Error::NoEarlierPlan(named)) if named == "chain"), "{refused:?}");
    assert!(court.wait(engine.task_ids(10)).unwrap().is_empty());
}

/// Of another folder, and of the same one before: what follows is in one place.
#[test]
fn a_plan_follows_one_of_its_own_folder() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let earlier = chain(&court, &engine);
    let elsewhere = tempfile::tempdir().unwrap();
    for named in ["chain", &earlier.to_string()] {
        let plan = read_plan(&NEXT.replace("follow_up_of: chain", &format!("follow_up_of: {named}")));
        let planning = Planning::Given(Box::new(plan.unwrap_or_else(|problems| panic!("{problems}"))));
        let submission = Submission { planning, workspace: elsewhere.path().to_owned(), ..court.submission() };
        let refused = court.wait(engine.submit(submission, Dispatch::Here, Some(&owner_key())));
        assert!(matches!(&refused, Err(Error::NoEarlierPlan(told)) if told == named), "{refused:?}");
    }
    court.things.cast("Next", vec![vec![vec![read(".inputs/earlier.chain/maker/report.txt")]]], "read");
    let task = given(&court, &engine, NEXT);
    assert_eq!(approve_and_drive(&court, &engine, task).status, TaskResultStatus::Completed);
    assert_eq!(read_by(&court, &engine, task, "next"), "what was found");
}

#[test]
fn a_planner_is_told_that_its_plan_follows_nothing() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let alone = NEXT.replace("follow_up_of: chain\n", "");
    court.things.cast_turns("do it", vec![(Vec::new(), NEXT), (Vec::new(), &alone)]);
    let submission = Submission { planning: Planning::Wanted, ..court.submission() };
    let task = court.wait(engine.submit(submission, Dispatch::Here, Some(&owner_key()))).unwrap();
    court.drive(&engine, task);
    let told = handed_back(&court, &engine);
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert!(told.contains("- `next` goes on from `chain`, and there is no such earlier plan of this folder"), "{told}");
    let plan = court.wait(engine.graph(task)).unwrap().plan.expect("a plan");
    assert_eq!(plan.0.follow_up_of, None);
}
