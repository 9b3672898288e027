//! Goals, from the card to the fix: looked at by workers when their time has come, mended under one standing word, never twice at
//! once, and after a crash as if there had been none.

use std::time::Duration;

use windlass_domain::approval::{Answer, ApprovalScope, Strength};
use windlass_domain::goal::{GoalState, Look};
use windlass_domain::{GoalId, TaskResultStatus};
use windlass_engine::{Engine, Error, GoalOrder, TripwirePoint, read_plan};

use crate::court::{At, Court, write, yes};
use crate::planned::text;

const KEPT: &str = "---
id: kept
type: goal
title: Keep it there
schedule: \"0 * * * *\"
verify: [{ file: there.txt }]
failure_context: \"Write it again: $failed_checks\"
---
# What to do
`there.txt` is there.
";
const HOUR: Duration = Duration::from_secs(3_600);

fn order(court: &Court, document: &str, max_fixes: u32) -> GoalOrder {
    let plan = read_plan(document).unwrap_or_else(|problems| panic!("{problems}"));
    GoalOrder { plan, with: court.submission(), max_fixes }
}

fn add(court: &Court, engine: &Engine, max_fixes: u32) -> GoalId {
    court.things.cast("Keep it there", vec![vec![vec![write("there.txt", "here")]]], "written");
    court.wait(engine.add_goal(order(court, KEPT, max_fixes))).unwrap().0
}

/// A standing word is one that was meant.
fn agree(court: &Court, engine: &Engine) {
    let card = court.only_card(engine).card;
    assert_eq!(card.binds.scope, ApprovalScope::Standing);
    court.answer(engine, card.card_id, Answer { approval_strength: Strength::Confirmed, ..yes() }).unwrap();
}

fn state(court: &Court, engine: &Engine) -> GoalState {
    court.wait(engine.goal_named("kept")).unwrap().state
}

fn pass_an_hour(court: &Court, engine: &Engine) {
    court.jump(HOUR);
    court.work(engine);
}

fn lose_it(court: &Court) {
    std::fs::remove_file(court.workspace().join("there.txt")).unwrap();
}

#[test]
fn a_goal_that_holds_is_looked_at_and_left_alone() {
    let court = Court::in_still_time(vec![]);
    court.put("there.txt", "here");
    let engine = court.process();
    add(&court, &engine, 10);
    agree(&court, &engine);
    court.work(&engine);
    assert_eq!(state(&court, &engine).firings, 0, "its time has not come");
    pass_an_hour(&court, &engine);
    let seen = state(&court, &engine);
    assert_eq!((seen.firings, seen.last), (1, Some(Look::Holds)));
    assert!(court.wait(engine.task_ids(10)).unwrap().is_empty(), "nothing else is done");
}

#[test]
fn what_is_broken_is_mended_under_the_standing_word() {
    let court = Court::in_still_time(vec![]);
    let engine = court.process();
    add(&court, &engine, 10);
    agree(&court, &engine);
    pass_an_hour(&court, &engine);
    assert_eq!(text(&court, "there.txt").as_deref(), Some("here"), "{:?}", court.audit(&engine));
    assert!(court.wait(engine.cards()).unwrap().is_empty(), "nobody is asked again");
    let (fix, _) = state(&court, &engine).fix.expect("a task mended it");
    let task = court.wait(engine.task(fix)).unwrap();
    assert_eq!(task.result.expect("it has ended").status, TaskResultStatus::Completed);
    pass_an_hour(&court, &engine);
    assert_eq!(state(&court, &engine).last, Some(Look::Holds));
}

#[test]
fn where_the_standing_word_is_missing_or_used_up_a_person_is_asked() {
    let court = Court::in_still_time(vec![]);
    let engine = court.process();
    add(&court, &engine, 1);
    let asked = court.only_card(&engine).card.card_id;
    pass_an_hour(&court, &engine);
    assert_eq!(text(&court, "there.txt"), None, "nobody has agreed");
    let cards = court.wait(engine.cards()).unwrap();
    let own = cards.iter().find(|card| card.card.card_id != asked).expect("a card for the fix itself");
    assert_eq!(own.card.binds.scope, ApprovalScope::FullPlan);
    court.approve(&engine, own.card.card_id);
    court.work(&engine);
    assert_eq!(text(&court, "there.txt").as_deref(), Some("here"));
    agree(&court, &engine);
    lose_it(&court);
    pass_an_hour(&court, &engine);
    assert_eq!(text(&court, "there.txt").as_deref(), Some("here"), "once on the standing word");
    lose_it(&court);
    pass_an_hour(&court, &engine);
    assert_eq!(text(&court, "there.txt"), None, "its uses are counted");
    assert_eq!(court.only_card(&engine).card.binds.scope, ApprovalScope::FullPlan);
}

#[test]
fn a_look_while_the_last_fix_is_at_work_is_skipped_and_missed_ones_are_one() {
    let court = Court::in_still_time(vec![]);
    let engine = court.process();
    add(&court, &engine, 10);
    pass_an_hour(&court, &engine);
    let (fix, _) = state(&court, &engine).fix.expect("it waits for a person");
    pass_an_hour(&court, &engine);
    let seen = state(&court, &engine);
    assert_eq!((seen.firings, seen.fixes, seen.last), (2, 1, Some(Look::Skipped(fix))));
    court.jump(HOUR * 7);
    court.work(&engine);
    assert_eq!(state(&court, &engine).firings, 3, "one for all that were missed");
}

#[test]
fn a_paused_goal_rests_and_a_removed_one_is_gone() {
    let court = Court::in_still_time(vec![]);
    let engine = court.process();
    let goal = add(&court, &engine, 10);
    let twice = court.wait(engine.add_goal(order(&court, KEPT, 10)));
    assert!(matches!(twice, Err(Error::GoalKnown(_))), "{twice:?}");
    court.wait(engine.pause_goal(goal)).unwrap();
    pass_an_hour(&court, &engine);
    assert_eq!(state(&court, &engine).firings, 0);
    court.wait(engine.resume_goal(goal)).unwrap();
    pass_an_hour(&court, &engine);
    assert_eq!(state(&court, &engine).firings, 1);
    court.wait(engine.remove_goal(goal)).unwrap();
    assert!(matches!(court.wait(engine.goal_named("kept")), Err(Error::NoSuchGoal(_))));
    assert!(matches!(court.wait(engine.run_goal(goal)), Err(Error::Goal(_))));
}

#[test]
fn only_a_goal_that_can_be_looked_at_is_taken_in() {
    let court = Court::in_still_time(vec![]);
    let engine = court.process();
    let refused = |document: String| {
        let refused = court.wait(engine.add_goal(order(&court, &document, 10)));
        matches!(refused, Err(Error::NotAGoal(_)))
    };
    assert!(refused(KEPT.replace("verify: [{ file: there.txt }]\n", "")));
    assert!(refused(KEPT.replace("schedule: \"0 * * * *\"\n", "")));
    assert!(court.wait(engine.goals()).unwrap().is_empty());
}

/// Between looking and mending, and on either side of each commit: there is one fix, whenever somebody dies.
#[test]
fn whoever_dies_while_looking_is_followed_by_another_and_it_is_mended_once() {
    for at in [
        At(TripwirePoint::BeforeCommit, 1),
        At(TripwirePoint::AfterCommit, 1),
        At(TripwirePoint::BeforeCommit, 2),
        At(TripwirePoint::AfterCommit, 2),
    ] {
        let court = Court::in_still_time(vec![]);
        let engine = court.process();
        let goal = add(&court, &engine, 10);
        agree(&court, &engine);
        let died = court.die(at, |engine| async move { engine.run_goal(goal).await });
        assert!(died.is_none(), "{at:?}");
        pass_an_hour(&court, &engine);
        let seen = state(&court, &engine);
        assert_eq!((text(&court, "there.txt").as_deref(), seen.fixes), (Some("here"), 1), "{at:?}");
    }
}
