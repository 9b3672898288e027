//! Each planted bug is caught, and by the rule that it breaks; without it the same history is good.

use windlass_simulator::{Bug, QueuePlan, examine_queues, play_queues};

use super::support::assert_good;

/// Most bugs show in one of the first few; some need that two things go wrong within a moment.
const MOST_SEEDS: u64 = 4_000;

/// The first history that shows the bug.
fn seed_that_shows(bug: Bug) -> u64 {
    let shows = |seed: &u64| {
        let history = play_queues(&QueuePlan::draw(*seed).with_bug(bug));
        examine_queues(&history).iter().any(|complaint| complaint.contains(bug.breaks()))
    };
    (0..MOST_SEEDS).find(shows).unwrap_or_else(|| panic!("{bug:?} was not caught as `{}`", bug.breaks()))
}

#[test]
fn every_planted_bug_is_caught_by_the_rule_that_it_breaks() {
    for bug in Bug::ALL {
        let seed = seed_that_shows(bug);
        println!("{bug:?} is caught with seed {seed}");
        assert_good(&play_queues(&QueuePlan::draw(seed)));
    }
}
