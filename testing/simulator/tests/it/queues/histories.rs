//! Whatever befalls whom, every rule holds. `make test` plays some histories, `make histories` twenty thousand.

use windlass_simulator::{QueuePlan, play_queues};

use super::support::assert_good;
use crate::support::{Totals, on_every_core, seeds};

/// A history of queues is short: for each of engines that is asked for so many are played.
const FOR_EACH_SEED: u64 = 9;

#[test]
fn every_rule_holds_in_every_history() {
    let totals = Totals::default();
    on_every_core(
        0..seeds() * FOR_EACH_SEED,
        || (),
        |(), seed| {
            let history = play_queues(&QueuePlan::draw(seed));
            totals.add(history.calls, history.polls);
            assert_good(&history);
        },
    );
    println!("queues: {totals}");
    assert!(totals.steps() >= totals.histories() * 250, "{totals}: few steps for so many histories");
}
