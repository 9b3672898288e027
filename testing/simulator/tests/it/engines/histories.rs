//! Whatever befalls whom and whoever says what, every rule holds.

use windlass_simulator::{EnginePlan, play_engines};

use super::support::assert_good;
use crate::support::{Arena, Totals, on_every_core, seeds};

#[test]
fn every_rule_holds_in_every_history_of_engines() {
    let totals = Totals::default();
    on_every_core(0..seeds(), Arena::new, |arena, seed| {
        let history = play_engines(&EnginePlan::draw(seed), &arena.world());
        totals.add(history.calls, history.polls);
        assert_good(arena, &history);
    });
    println!("engines: {totals}");
    assert!(totals.steps() >= totals.histories() * 300, "{totals}: few steps for so many histories");
}
