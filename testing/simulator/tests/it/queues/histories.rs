//! Whatever befalls whom, every rule holds. `make test` plays some histories, `make histories` twenty thousand.

use std::sync::atomic::Ordering;

use windlass_simulator::{QueuePlan, play_queues};

use super::support::{Totals, assert_good, on_every_core};
use crate::support::seeds;

/// A history of queues is short: so many for each seed that is asked for.
const FOR_EACH_SEED: u64 = 10;

#[test]
fn every_rule_holds_in_every_history() {
    let totals = Totals::default();
    on_every_core(0..seeds() * FOR_EACH_SEED, |seed| {
        let history = play_queues(&QueuePlan::draw(seed));
        totals.add(&history);
        assert_good(&history);
    });
    let [histories, steps, polls] =
        [&totals.histories, &totals.steps, &totals.polls].map(|total| total.load(Ordering::Relaxed));
    println!("{histories} histories without a violation: {steps} steps (calls across the store's port), {polls} polls");
    assert!(steps >= histories * 250, "{steps} steps are few for {histories} histories");
}
