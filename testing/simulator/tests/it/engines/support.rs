//! Reporting a bad history: shrunk, with its story.

use windlass_simulator::{EngineHistory, EnginePlan, engine_story, examine_engines, play_engines, shrink};

use crate::support::{Arena, words_of};

/// Panics with the shortest story of what is wrong.
pub fn assert_good(arena: &Arena, history: &EngineHistory) {
    let complaints = examine_engines(history);
    let Some(first) = complaints.first() else { return };
    let short = shrink_to(arena, &history.plan, first);
    let story = engine_story(&play_engines(&short, &arena.world()));
    panic!("seed {}:\n  {}\n\n{story}", history.plan.seed, complaints.join("\n  "));
}

/// The shortest plan with a complaint of the same kind.
pub fn shrink_to(arena: &Arena, plan: &EnginePlan, complaint: &str) -> EnginePlan {
    let kind = words_of(complaint);
    shrink(plan, |plan| {
        examine_engines(&play_engines(plan, &arena.world())).iter().any(|other| words_of(other) == kind)
    })
}
