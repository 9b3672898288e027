//! The same plan gives the same history: who called what when, every commit, every id, and what is in the store.

use windlass_simulator::{EngineHistory, EnginePlan, play_engines};

use crate::support::{Arena, on_every_core, seeds};

fn told(history: &EngineHistory) -> String {
    let EngineHistory { records, ledger, tenants, polls, calls, trace, .. } = history;
    format!("{records:?}\n{ledger:?}\n{tenants:?}\n{polls} {calls} {trace}")
}

#[test]
fn the_same_seed_gives_the_same_history_of_engines() {
    on_every_core(0..seeds().min(100), Arena::new, |arena, seed| {
        let plan = EnginePlan::draw(seed);
        let [first, second] = [(), ()].map(|()| play_engines(&plan, &arena.world()));
        assert_eq!(first.trace, second.trace, "seed {seed}");
        assert!(told(&first) == told(&second), "seed {seed}: the same calls, and something else differs");
    });
}

#[test]
fn another_seed_gives_another_history_of_engines() {
    let arena = Arena::new();
    let traces = [1, 2, 3, 4].map(|seed| {
        let plan = EnginePlan { seed, ..EnginePlan::draw(1) };
        play_engines(&plan, &arena.world()).trace
    });
    assert!(traces[1..].iter().all(|trace| *trace != traces[0]), "the order of steps comes from the seed");
}
