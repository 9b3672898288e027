//! Controls: the verdict on outcomes that a broken Windlass would leave. Each is a clean run's outcome with one thing wrong.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::outcome::Outcome;
use super::trial::clean;
use super::verdict::{Uncertain, complaints};
use super::{SCENARIOS, Scenario};

static CLEAN: LazyLock<Outcome> = LazyLock::new(|| clean(&SCENARIOS[1]));

/// The complaints about a clean outcome after `spoil`.
fn about(spoil: impl FnOnce(&mut Outcome)) -> Vec<String> {
    let mut outcome = CLEAN.clone();
    spoil(&mut outcome);
    complaints(&CLEAN, &outcome, &Uncertain::default())
}

#[track_caller]
fn bites(word: &str, spoil: impl FnOnce(&mut Outcome)) {
    let found = about(spoil);
    assert!(found.iter().any(|complaint| complaint.contains(word)), "nothing about `{word}` in {found:#?}");
}

fn record<'a>(outcome: &'a mut Outcome, kind: &str) -> &'a mut Value {
    let found = outcome.story.records.iter_mut().find(|record| record["type"] == kind);
    found.expect("a clean run has one")
}

#[test]
fn control_a_clean_outcome_has_no_complaints_and_five_effects() {
    assert_eq!(about(|_| {}), Vec::<String>::new());
    assert_eq!(CLEAN.ledger.len(), 5);
}

#[test]
fn control_a_doubled_effect_is_noticed() {
    bites("effect-3 happened 2 times", |outcome| *outcome.ledger.get_mut("effect-3").expect("there") += 1);
}

#[test]
fn control_a_lost_effect_is_noticed() {
    bites("effect-4 is lost", |outcome| outcome.ledger.retain(|effect, _| effect != "effect-4"));
}

#[test]
fn control_an_effect_that_nobody_asked_for_is_noticed() {
    bites("effect-99", |outcome| outcome.ledger.extend([("effect-99".to_owned(), 1)]));
}

#[test]
fn control_a_call_without_a_result_is_noticed() {
    bites("0 results for the call", |outcome| {
        let at = outcome.story.records.iter().position(|record| record["type"] == "tool.finished");
        outcome.story.records.remove(at.expect("a clean run has one"));
    });
}

#[test]
fn control_a_second_result_is_noticed() {
    bites("2 results for the call", |outcome| {
        let finished = record(outcome, "tool.finished").clone();
        outcome.story.records.push(finished);
    });
}

#[test]
fn control_a_command_that_is_begun_twice_is_noticed() {
    bites("begun twice", |outcome| {
        let started = record(outcome, "tool.started").clone();
        outcome.story.records.push(started);
    });
}

#[test]
fn control_an_interruption_without_a_death_is_noticed() {
    bites("in flight at a death", |outcome| record(outcome, "tool.finished")["data"]["status"] = json!("interrupted"));
}

#[test]
fn control_a_call_in_flight_that_is_not_reported_is_noticed() {
    let call = CLEAN.story.asked().into_keys().next().expect("a clean run has calls");
    let uncertain = Uncertain { calls: BTreeSet::from([call]), deaths: 1 };
    let found = complaints(&CLEAN, &CLEAN, &uncertain);
    assert!(found.iter().any(|complaint| complaint.contains("in flight at a death")), "{found:#?}");
}

#[test]
fn control_an_interrupted_call_excuses_its_own_effect_and_no_other() {
    let mut outcome = CLEAN.clone();
    let (call, _) = CLEAN.story.asked().into_iter().next().expect("a clean run has calls");
    record(&mut outcome, "tool.finished")["data"]["status"] = json!("interrupted");
    outcome.ledger.remove("effect-1");
    outcome.files.remove("made-1");
    let uncertain = Uncertain { calls: BTreeSet::from([call]), deaths: 1 };
    assert_eq!(complaints(&CLEAN, &outcome, &uncertain), Vec::<String>::new());
    outcome.files.remove("made-2");
    let found = complaints(&CLEAN, &outcome, &uncertain);
    assert!(matches!(&found[..], [one] if one.contains("made-2")), "{found:#?}");
}

#[test]
fn control_files_and_endings_that_differ_are_noticed() {
    bites("notes.txt", |outcome| outcome.files.extend([("notes.txt".to_owned(), Vec::new())]));
    bites("left-over.tmp", |outcome| outcome.files.extend([("left-over.tmp".to_owned(), Vec::new())]));
    bites("exit code", |outcome| outcome.code = Some(1));
    bites("FAILED", |outcome| outcome.story.result.as_mut().expect("a result")["status"] = json!("FAILED"));
    bites("attempts", |outcome| {
        let started = record(outcome, "attempt.started").clone();
        outcome.story.records.push(started);
    });
    bites("asked again", |outcome| {
        let requested = record(outcome, "model.requested").clone();
        outcome.story.records.push(requested);
    });
    bites("the trace", |outcome| outcome.trace = None);
}

/// The whole way, with a real process: a trial of something that does not go on as it should must not pass.
#[test]
fn control_a_real_effect_from_elsewhere_is_counted() {
    let scenario: &Scenario = &SCENARIOS[1];
    let (home, mut ledger) = scenario.set_up();
    let ended = scenario.run(&home).run().expect(0);
    std::fs::write(home.workspace().join("ledger"), "effect-2\n").expect("the pipe takes a line");
    let outcome = Outcome::of(&home, &mut ledger, Some(ended.code()));
    let found = complaints(&CLEAN, &outcome, &Uncertain::default());
    assert!(matches!(&found[..], [one] if one.contains("effect-2 happened 2 times")), "{found:#?}");
}
