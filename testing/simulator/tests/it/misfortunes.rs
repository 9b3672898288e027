//! Several processes in a row die or stall wherever the seed says. `WINDLASS_SEEDS` says how many seeds; `make sim` asks
//! for many.

use windlass_simulator::{Plan, Scenario};

use crate::support::{Arena, assert_good, seeds};

fn suffer(scenario: &Scenario) {
    let arena = Arena::new();
    // How it should end does not depend on the seed.
    let clean = arena.play(scenario, &Plan::clean(0));
    for seed in 1..=seeds() {
        let history = arena.play(scenario, &Plan::misfortunes(seed, clean.calls));
        assert_good(&history, &clean);
    }
}

#[test]
fn a_days_work_survives_several_misfortunes() {
    suffer(&Scenario::a_days_work());
}

#[test]
fn a_second_attempt_survives_several_misfortunes() {
    suffer(&Scenario::second_attempt());
}

#[test]
fn a_pause_survives_several_misfortunes() {
    suffer(&Scenario::paused());
}

#[test]
fn a_cancel_survives_several_misfortunes() {
    suffer(&Scenario::cancelled());
}

#[test]
fn a_word_from_outside_survives_several_misfortunes() {
    suffer(&Scenario::interrupted_by_a_word());
}

#[test]
fn retries_survive_several_misfortunes() {
    suffer(&Scenario::flaky_model());
}

#[test]
fn a_failure_survives_several_misfortunes() {
    suffer(&Scenario::model_gone());
}

#[test]
fn a_limit_survives_several_misfortunes() {
    suffer(&Scenario::too_many_turns());
}
