//! A bad history shrinks to few acts and a story that says what went wrong.

use windlass_simulator::{EngineAct, EngineBug, EnginePlan, engine_story, examine_engines, play_engines};

use super::support::shrink_to;
use crate::support::Arena;

#[test]
fn an_answer_that_wakes_nobody_shrinks_to_a_job() {
    let (arena, bug) = (Arena::new(), EngineBug::WakesNobody);
    let bad = (0..).find_map(|seed| {
        let plan = EnginePlan::draw(seed).with_bug(bug);
        let complaints = examine_engines(&play_engines(&plan, &arena.world()));
        let complaint = complaints.into_iter().find(|complaint| complaint.contains(bug.breaks()))?;
        Some((plan, complaint))
    });
    let (plan, complaint) = bad.expect("the bug is caught");
    let short = play_engines(&shrink_to(&arena, &plan, &complaint), &arena.world());
    let story = engine_story(&short);
    assert!(matches!(short.plan.acts[..], [EngineAct::Submits(_)]), "{story}");
    assert_eq!(short.plan.workers, 1, "{story}");
    for part in [&format!("seed {}", short.plan.seed), "approval.requested of", "attempt.waiting of job"] {
        assert!(story.contains(part), "{part:?} is not in\n{story}");
    }
}
