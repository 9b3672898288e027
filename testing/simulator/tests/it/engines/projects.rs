//! Worlds with plans in them: whatever befalls whom, every rule holds; and each bug that only shows there is caught.

use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_simulator::{EngineBug, EngineHistory, EnginePlan, examine_engines, play_engines};

use super::support::assert_good;
use crate::support::{Arena, Totals, on_every_core, seeds};

/// A plan takes some twenty times as long as a job.
pub fn few_seeds() -> u64 {
    (seeds() / 20).max(10)
}

/// What has to happen now and then, or the histories prove little.
const KINDS: [&str; 11] = [
    "atom.ended",
    "graph.applied",
    "join.checked",
    "consult.asked",
    "consult.answered",
    "planner.started",
    "plan.answered",
    "graph.stopping",
    "research.asked",
    "research.answered",
    "research.timed_out",
];

#[test]
fn every_rule_holds_in_every_history_of_plans() {
    let (totals, seen) = (Totals::default(), KINDS.map(|_| AtomicUsize::new(0)));
    on_every_core(0..few_seeds(), Arena::new, |arena, seed| {
        let history = play_engines(&EnginePlan::draw_projects(seed), &arena.world());
        totals.add(history.calls, history.polls);
        KINDS.iter().zip(&seen).for_each(|(kind, seen)| {
            seen.fetch_add(records(&history, kind), Ordering::Relaxed);
        });
        assert_good(arena, &history);
    });
    let seen = KINDS.iter().zip(seen.map(AtomicUsize::into_inner)).collect::<Vec<_>>();
    println!("plans: {totals}; {seen:?}");
    assert!(seen.iter().all(|(_, times)| *times > 0), "{seen:?} proves little");
}

/// Regression: what rested when its plan was cancelled never heard of it, and the plan never ended.
#[test]
fn what_is_cancelled_while_it_rests_ends() {
    let cancelled = AtomicUsize::new(0);
    on_every_core(0..few_seeds(), Arena::new, |arena, seed| {
        let history = play_engines(&EnginePlan::draw_cancelled_at_rest(seed), &arena.world());
        cancelled.fetch_add(records(&history, "graph.stopping"), Ordering::Relaxed);
        assert_good(arena, &history);
    });
    assert!(cancelled.into_inner() > 0, "it proves little");
}

pub fn records(history: &EngineHistory, kind: &str) -> usize {
    history.tenants.iter().flat_map(|tenant| &tenant.events).filter(|row| row.kind == kind).count()
}

/// Where to begin to look for what seldom shows. It only saves time: should histories be drawn otherwise, it takes longer.
pub const fn begin_at(bug: EngineBug) -> u64 {
    match bug {
        EngineBug::CardsLeft => 33,
        EngineBug::WorkForgotten => 74,
        _ => 0,
    }
}

#[test]
fn every_planted_bug_of_a_plan_is_caught_by_the_rule_that_it_breaks() {
    on_every_core(0..EngineBug::OF_PLANS.len() as u64, Arena::new, |arena, number| {
        let bug = EngineBug::OF_PLANS[usize::try_from(number).unwrap()];
        let shows = |seed: &u64| {
            let history = play_engines(&EnginePlan::draw_projects(*seed).with_bug(bug), &arena.world());
            examine_engines(&history).iter().any(|complaint| complaint.contains(bug.breaks()))
        };
        let seed =
            (begin_at(bug)..100).find(shows).unwrap_or_else(|| panic!("{bug:?} was not caught as `{}`", bug.breaks()));
        println!("{bug:?} is caught with seed {seed}");
    });
}

#[test]
fn the_same_seed_gives_the_same_history_of_plans() {
    on_every_core(0..4, Arena::new, |arena, seed| {
        let plan = EnginePlan::draw_projects(seed);
        let [first, second] = [(), ()].map(|()| play_engines(&plan, &arena.world()));
        assert_eq!((first.trace, first.folders), (second.trace, second.folders), "seed {seed}");
    });
}
