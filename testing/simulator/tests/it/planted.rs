//! A test that cannot fail is worth nothing: each planted bug must be caught, and by what it breaks.

use std::time::Duration;

use windlass_simulator::{Fate, Plan, Plant, Scenario, examine};

use crate::support::{Arena, assert_good};

/// Plays `plans` with the bug until one shows it in words like `expected`; otherwise says what there was instead. Without
/// the bug none may show anything.
fn find(
    scenario: &Scenario,
    plant: Plant,
    plans: impl Iterator<Item = Plan>,
    expected: &str,
) -> Result<(), Vec<String>> {
    let arena = Arena::new();
    let mut complaints = Vec::new();
    for plan in plans {
        let clean = arena.play(scenario, &Plan::clean(plan.seed));
        assert_good(&arena.play(scenario, &plan), &clean);
        complaints.extend(examine(&arena.play(scenario, &plan.with_plant(plant)), &clean));
        if complaints.iter().any(|complaint| complaint.contains(expected)) {
            return Ok(());
        }
    }
    Err(complaints)
}

fn must_be_caught(scenario: &Scenario, plant: Plant, plans: impl Iterator<Item = Plan>, expected: &str) {
    if let Err(complaints) = find(scenario, plant, plans, expected) {
        panic!("{plant:?} was not caught as `{expected}`; there was only {complaints:#?}");
    }
}

#[test]
fn a_store_that_acknowledges_what_it_drops() {
    for number in [2, 4, 6, 9] {
        let plans = [Plan::clean(1)].into_iter();
        must_be_caught(&Scenario::a_days_work(), Plant::SwallowedCommit(number), plans, "is not in the store");
    }
}

#[test]
fn a_dropped_record_of_a_started_call_makes_it_run_twice() {
    let scenario = Scenario::too_many_turns();
    let mut numbers = 2..=8;
    let found = numbers.any(|number| {
        let plans = [Plan::clean(1)].into_iter();
        find(&scenario, Plant::SwallowedCommit(number), plans, "happened 2 times").is_ok()
    });
    assert!(found, "no dropped commit led to an effect that happened twice");
}

#[test]
fn a_sandbox_that_repeats_what_its_predecessor_did() {
    let plans = (1..).step_by(7).take(40).map(|call| Plan::one_death(1, call));
    must_be_caught(&Scenario::a_days_work(), Plant::EffectsTwice, plans, "happened 2 times");
}

#[test]
fn a_stalled_process_that_writes_on_because_nothing_fences_it() {
    let stalls = |call| Plan { fates: vec![(call, Fate::Stalls(Duration::from_secs(25)))], ..Plan::clean(1) };
    let plans = (30..).step_by(5).take(40).map(stalls);
    must_be_caught(&Scenario::a_days_work(), Plant::NoFence, plans, "wrote at");
}

#[test]
fn a_mailbox_that_never_empties() {
    let plans = (1..=8).map(Plan::clean);
    must_be_caught(&Scenario::paused(), Plant::NoAcks, plans, "was heeded");
}
