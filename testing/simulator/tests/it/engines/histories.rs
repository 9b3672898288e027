//! Whatever befalls whom and whoever says what, every rule holds.

use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_simulator::{EngineHistory, EnginePlan, play_engines};

use super::support::assert_good;
use crate::support::{Arena, Totals, on_every_core, seeds};

#[test]
fn every_rule_holds_in_every_history_of_engines() {
    let (totals, children, answers) = (Totals::default(), AtomicUsize::new(0), AtomicUsize::new(0));
    on_every_core(0..seeds(), Arena::new, |arena, seed| {
        let history = play_engines(&EnginePlan::draw(seed), &arena.world());
        totals.add(history.calls, history.polls);
        children.fetch_add(records(&history, "subagent.finished"), Ordering::Relaxed);
        answers.fetch_add(records(&history, "question.answered"), Ordering::Relaxed);
        assert_good(arena, &history);
    });
    let (children, answers) = (children.into_inner(), answers.into_inner());
    println!("engines: {totals}; {children} agents were spawned, {answers} questions answered");
    let histories = usize::try_from(totals.histories()).unwrap();
    assert!(
        2 * children >= histories && 4 * answers >= histories,
        "{children} agents and {answers} answers prove little"
    );
    assert!(totals.steps() >= totals.histories() * 300, "{totals}: few steps for so many histories");
}

fn records(history: &EngineHistory, kind: &str) -> usize {
    history.tenants.iter().flat_map(|tenant| &tenant.events).filter(|row| row.kind == kind).count()
}
