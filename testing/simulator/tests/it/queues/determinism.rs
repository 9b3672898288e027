//! The same plan gives the same history: who called what when, every commit, every id, and what is in the store.

use windlass_simulator::{QueueHistory, QueuePlan, play_queues};

use super::support::on_every_core;
use crate::support::seeds;

fn told(history: &QueueHistory) -> String {
    let QueueHistory { records, tenants, polls, calls, trace, .. } = history;
    format!("{records:?}\n{tenants:?}\n{polls} {calls} {trace}")
}

#[test]
fn the_same_seed_gives_the_same_history_of_queues() {
    on_every_core(0..seeds().min(200), |seed| {
        let plan = QueuePlan::draw(seed);
        let (first, second) = (play_queues(&plan), play_queues(&plan));
        assert_eq!(first.trace, second.trace, "seed {seed}");
        assert!(told(&first) == told(&second), "seed {seed}: the same calls, and something else differs");
    });
}

#[test]
fn another_seed_gives_another_history_of_queues() {
    let traces = [1, 2, 3, 4].map(|seed| {
        let plan = QueuePlan { seed, ..QueuePlan::draw(1) };
        play_queues(&plan).trace
    });
    assert!(traces[1..].iter().all(|trace| *trace != traces[0]), "the order of steps comes from the seed");
}
