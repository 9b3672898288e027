//! Worlds with objectives in them: begun, stopped and redirected at any moment while everybody is killed, stopped and misled, every
//! rule holds; and each bug that only shows there is caught.

use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_simulator::{EngineBug, EnginePlan, examine_engines, play_engines};

use super::projects::{begin_at, few_seeds, records};
use super::support::assert_good;
use crate::support::{Arena, Totals, on_every_core};

/// What has to happen now and then, or the histories prove little.
const KINDS: [&str; 9] = [
    "atom.ended",
    "graph.applied",
    "join.checked",
    "graph.corrected",
    "probe.ended",
    "split.ended",
    "choice.switched",
    "task.changed",
    "graph.stopping",
];

#[test]
fn every_rule_holds_in_every_history_of_objectives() {
    let (totals, seen) = (Totals::default(), KINDS.map(|_| AtomicUsize::new(0)));
    on_every_core(0..few_seeds(), Arena::new, |arena, seed| {
        let history = play_engines(&EnginePlan::draw_objectives(seed), &arena.world());
        totals.add(history.calls, history.polls);
        KINDS.iter().zip(&seen).for_each(|(kind, seen)| {
            seen.fetch_add(records(&history, kind), Ordering::Relaxed);
        });
        assert_good(arena, &history);
    });
    let seen = KINDS.iter().zip(seen.map(AtomicUsize::into_inner)).collect::<Vec<_>>();
    println!("objectives: {totals}; {seen:?}");
    assert!(seen.iter().all(|(_, times)| *times > 0), "{seen:?} proves little");
}

#[test]
fn every_planted_bug_of_an_objective_is_caught_by_the_rule_that_it_breaks() {
    on_every_core(0..EngineBug::OF_OBJECTIVES.len() as u64, Arena::new, |arena, number| {
        let bug = EngineBug::OF_OBJECTIVES[usize::try_from(number).unwrap()];
        let shows = |seed: &u64| {
            let history = play_engines(&EnginePlan::draw_objectives(*seed).with_bug(bug), &arena.world());
            examine_engines(&history).iter().any(|complaint| complaint.contains(bug.breaks()))
        };
        let seed =
            (begin_at(bug)..100).find(shows).unwrap_or_else(|| panic!("{bug:?} was not caught as `{}`", bug.breaks()));
        println!("{bug:?} is caught with seed {seed}");
    });
}
