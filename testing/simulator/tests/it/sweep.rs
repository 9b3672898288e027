//! One death at every call across a port, in every scenario: whatever the instant, another process goes on and finishes,
//! nothing is lost and nothing is done twice. With few seeds, deaths between which the world does not change are played
//! once; with more than that, every one of them.

use std::collections::BTreeSet;
use std::time::Duration;

use windlass_engine::TripwirePoint;
use windlass_simulator::{Plan, Point, Scenario, Side};

use crate::support::{Arena, FEW_SEEDS, assert_good, seeds};

const SEED: u64 = 1;

fn sweep(scenario: &Scenario) {
    let arena = Arena::new();
    let clean = arena.play(scenario, &Plan::clean(SEED));
    assert_good(&clean, &clean);
    assert!(clean.calls > 50, "{} calls are no scenario", clean.calls);
    let calls = if seeds() > FEW_SEEDS { (1..=clean.calls).collect() } else { clean.distinct_deaths.clone() };
    for call in calls {
        let history = arena.play(scenario, &Plan::one_death(SEED, call));
        assert_eq!(history.burnt.len(), 1, "nobody died at call {call}");
        assert_good(&history, &clean);
    }
}

#[test]
fn a_days_work_survives_a_death_at_every_call() {
    sweep(&Scenario::a_days_work());
}

#[test]
fn a_second_attempt_survives_a_death_at_every_call() {
    sweep(&Scenario::second_attempt());
}

#[test]
fn a_pause_survives_a_death_at_every_call() {
    sweep(&Scenario::paused());
}

#[test]
fn a_cancel_survives_a_death_at_every_call() {
    sweep(&Scenario::cancelled());
}

#[test]
fn a_word_from_outside_survives_a_death_at_every_call() {
    sweep(&Scenario::interrupted_by_a_word());
}

#[test]
fn retries_survive_a_death_at_every_call() {
    sweep(&Scenario::flaky_model());
}

#[test]
fn a_failure_survives_a_death_at_every_call() {
    sweep(&Scenario::model_gone());
}

#[test]
fn a_limit_survives_a_death_at_every_call() {
    sweep(&Scenario::too_many_turns());
}

#[test]
fn a_compaction_survives_a_death_at_every_call() {
    let scenario = Scenario::a_long_conversation();
    assert_reached(&scenario, &["started", "cleared", "finished"]);
    sweep(&scenario);
}

#[test]
fn a_memory_flush_survives_a_death_at_every_call() {
    let scenario = Scenario::a_long_conversation_with_notes();
    assert_reached(&scenario, &["started", "cleared", "flushing", "flushed", "finished"]);
    sweep(&scenario);
}

fn assert_reached(scenario: &Scenario, steps: &[&str]) {
    let clean = Arena::new().play(scenario, &Plan::clean(SEED));
    let kinds: BTreeSet<&str> = clean.rows.iter().map(|row| row.kind.as_str()).collect();
    for step in steps {
        assert!(kinds.contains(format!("compaction.{step}").as_str()), "{step} is not in {kinds:?}");
    }
    assert!(clean.rows.iter().any(|row| row.data.contains(r#""purpose":{"summary""#)), "nothing was summarised");
}

/// A crash point that no scenario comes to is a crash point that nobody has tried.
#[test]
fn the_scenarios_come_to_every_place_where_a_process_can_be_made_to_die() {
    let arena = Arena::new();
    let passed: BTreeSet<Point> =
        Scenario::all().iter().flat_map(|scenario| arena.play(scenario, &Plan::clean(SEED)).passed).collect();
    for point in TripwirePoint::ALL {
        assert!(passed.contains(&Point::Tripwire(point)), "nobody comes to {}", point.name());
    }
    for verb in ["commit", "stage_blob"] {
        assert!(passed.contains(&Point::Store(verb, Side::After)), "nobody uses store.{verb}");
    }
    for point in [Point::Delta, Point::Sandbox("run", Side::After), Point::Block(Side::After)] {
        assert!(passed.contains(&point), "nobody dies {point}");
    }
}

/// The dead spend nothing: a run that goes on tomorrow has the time it had left today.
#[test]
fn a_night_between_death_and_resume_is_nobodys_time() {
    let (arena, scenario) = (Arena::new(), Scenario::too_many_turns());
    let clean = arena.play(&scenario, &Plan::clean(SEED));
    let night = Duration::from_hours(15);
    for call in (1..=clean.calls).step_by(4) {
        let history = arena.play(&scenario, &Plan { gap: night, ..Plan::one_death(SEED, call) });
        assert_good(&history, &clean);
    }
}
