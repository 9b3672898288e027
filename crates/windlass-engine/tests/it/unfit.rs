//! Plans that name an agent or a skill that is not there: a planner's goes back to it, and a user's own is not taken in.

use windlass_domain::TaskId;
use windlass_engine::{Dispatch, Engine, Error, Planning, Submission, read_plan};

use crate::court::{Court, owner_key};
use crate::planned::{STUCK, finished};

const UNFIT: &str = "---
id: it
type: task
title: Write it right
agent: wizard
skills: [tarot]
verify: [{ file: right.txt }]
---
# What to do
Write it.
";

fn planned(court: &Court, engine: &Engine, planning: Planning) -> Result<TaskId, Error> {
    let submission = Submission { planning, ..court.submission() };
    court.wait(engine.submit(submission, Dispatch::Here, Some(&owner_key())))
}

#[test]
fn a_plan_that_names_what_is_not_there_goes_back_to_its_planner_and_on_no_card() {
    let court = Court::new(vec![]);
    court.things.say_at_last_in_turn(&[UNFIT, STUCK]);
    let engine = court.process();
    let task = planned(&court, &engine, Planning::Wanted).unwrap();
    court.drive(&engine, task);
    let card = court.only_card(&engine).card;
    assert_eq!(card.details["items"][0]["agent"], "executor");
    let graph = court.wait(engine.graph(task)).unwrap();
    assert_eq!(graph.revision, 1, "it was mended before anybody saw it");
}

#[test]
fn a_planner_that_insists_on_it_has_no_plan_and_says_all_that_is_wrong() {
    let court = Court::new(vec![]);
    court.things.say_at_last(UNFIT);
    let engine = court.process();
    let task = planned(&court, &engine, Planning::Wanted).unwrap();
    let error = finished(court.drive(&engine, task)).error_details.expect("a reason");
    assert!(error.message.contains("`wizard`") && error.message.contains("`tarot`"), "{error:?}");
    assert!(court.wait(engine.cards()).unwrap().is_empty());
}

#[test]
fn a_user_s_own_plan_that_names_what_is_not_there_is_not_taken_in() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let plan = read_plan(UNFIT).unwrap_or_else(|problems| panic!("{problems}"));
    let refused = planned(&court, &engine, Planning::Given(Box::new(plan)));
    assert!(matches!(&refused, Err(Error::UnfitPlan(reasons)) if reasons.len() == 2), "{refused:?}");
}

/// A token of nobody, where a check of an item would use it.
const TELLING: &str = "---
id: it
type: project
title: Two things
tasks:
  - { id: one, type: task, title: Write it right, verify: [{ file: right.txt }] }
  - { id: two, type: task, title: Bring it there, verify: [{ command: 'curl -f -H \"Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ456789\" http://localhost/it' }] }
---
# What to do
Write it.
";

/// Kept without its token it would be another check, and that one would be run.
#[test]
fn a_user_s_own_plan_whose_check_holds_a_credential_is_not_taken_in() {
    let court = Court::new(vec![]);
    let engine = court.process();
    let plan =
        |document: &str| Planning::Given(Box::new(read_plan(document).unwrap_or_else(|wrong| panic!("{wrong}"))));
    let refused = planned(&court, &engine, plan(TELLING));
    assert!(matches!(refused, Err(Error::SecretInCheck)), "{refused:?}");
    planned(&court, &engine, plan(&TELLING.replace("ghp_0123456789abcdefghijABCDEFGHIJ456789", "$(cat token)")))
        .unwrap();
}

#[test]
fn a_planner_whose_check_holds_a_credential_hears_it_and_writes_another_plan() {
    let court = Court::new(vec![]);
    court.things.say_at_last_in_turn(&[TELLING, STUCK]);
    let engine = court.process();
    let task = planned(&court, &engine, Planning::Wanted).unwrap();
    court.drive(&engine, task);
    let card = court.only_card(&engine).card;
    assert_eq!(card.details["items"].as_array().map(Vec::len), Some(1), "{}", card.details);
    let graph = court.wait(engine.graph(task)).unwrap();
    assert_eq!(graph.revision, 1, "it was mended before anybody saw it");
}

/// What it said is read once more as it was kept, when the credential is out of it.
#[test]
fn a_planner_that_insists_on_a_credential_has_no_plan() {
    let court = Court::new(vec![]);
    court.things.say_at_last(TELLING);
    let engine = court.process();
    let task = planned(&court, &engine, Planning::Wanted).unwrap();
    let error = finished(court.drive(&engine, task)).error_details.expect("a reason");
    assert!(error.message.contains("`two` has a check that holds what looks like a credential"), "{error:?}");
    assert!(court.wait(engine.cards()).unwrap().is_empty());
}
