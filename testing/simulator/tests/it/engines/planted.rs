//! Each planted bug is caught, and by the rule that it breaks; without it the same history is good.

use windlass_simulator::{EngineBug, EnginePlan, examine_engines, play_engines};

use super::support::assert_good;
use crate::support::{Arena, on_every_core};

/// Most bugs show in one of the first few; some need that two things go wrong within a moment.
const MOST_SEEDS: u64 = 4_000;

/// Where to begin to look for those that seldom show. It only saves time: should histories be drawn otherwise, it takes longer.
const fn begin_at(bug: EngineBug) -> u64 {
    match bug {
        EngineBug::ParksBlindly => 120,
        EngineBug::ChildrenLeft => 215,
        EngineBug::NoNonce => 420,
        _ => 0,
    }
}

/// The first history from there that shows the bug.
fn seed_that_shows(arena: &Arena, bug: EngineBug) -> u64 {
    let shows = |seed: &u64| {
        let history = play_engines(&EnginePlan::draw(*seed).with_bug(bug), &arena.world());
        examine_engines(&history).iter().any(|complaint| complaint.contains(bug.breaks()))
    };
    (begin_at(bug)..MOST_SEEDS).find(shows).unwrap_or_else(|| panic!("{bug:?} was not caught as `{}`", bug.breaks()))
}

#[test]
fn every_planted_bug_of_an_engine_is_caught_by_the_rule_that_it_breaks() {
    on_every_core(0..EngineBug::ALL.len() as u64, Arena::new, |arena, number| {
        let bug = EngineBug::ALL[usize::try_from(number).unwrap()];
        let seed = seed_that_shows(arena, bug);
        println!("{bug:?} is caught with seed {seed}");
        assert_good(arena, &play_engines(&EnginePlan::draw(seed), &arena.world()));
    });
}
