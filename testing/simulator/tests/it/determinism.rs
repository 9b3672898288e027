//! The same seed gives the same history, ids and times included; another seed gives another.

use windlass_simulator::{History, Plan, Scenario};

use crate::support::Arena;

/// Everything there is to see of a history.
fn told(history: &History) -> String {
    let History { rows, ledger, commits, files, testimony, mailbox, burnt, calls, .. } = history;
    format!("{rows:#?}\n{ledger:#?}\n{commits:#?}\n{files:?}\n{testimony:#?}\n{mailbox:#?}\n{burnt:?}\n{calls}")
}

#[test]
fn the_same_seed_gives_the_same_history_to_the_byte() {
    // One folder for both: its name is in the records.
    let arena = Arena::new();
    for scenario in Scenario::all() {
        for seed in [3, 4] {
            let plan = Plan::misfortunes(seed, 150);
            let (first, second) = (told(&arena.play(&scenario, &plan)), told(&arena.play(&scenario, &plan)));
            assert!(first == second, "{} differs from itself with seed {seed}", scenario.name);
        }
    }
}

#[test]
fn another_seed_gives_another_history() {
    let arena = Arena::new();
    let order = |seed| {
        let history = arena.play(&Scenario::cancelled(), &Plan::clean(seed));
        let kinds = history.rows.iter().map(|row| row.kind.clone()).collect::<Vec<_>>();
        (told(&history), kinds)
    };
    let histories: Vec<_> = (1..=8).map(order).collect();
    let (first, first_kinds) = &histories[0];
    assert!(histories[1..].iter().all(|(other, _)| other != first), "ids and times come from the seed");
    assert!(histories[1..].iter().any(|(_, kinds)| kinds != first_kinds), "what happens comes from the seed as well");
}
