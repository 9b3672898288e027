//! Reporting a bad history: shrunk, with its story.

use windlass_simulator::{QueueHistory, QueuePlan, examine_queues, play_queues, queue_story, shrink};

use crate::support::words_of;

/// Panics with the shortest story of what is wrong.
pub fn assert_good(history: &QueueHistory) {
    let complaints = examine_queues(history);
    let Some(first) = complaints.first() else { return };
    let short = shrink_to(&history.plan, first);
    let story = queue_story(&play_queues(&short));
    panic!("seed {}:\n  {}\n\n{story}", history.plan.seed, complaints.join("\n  "));
}

/// The shortest plan with a complaint of the same kind.
pub fn shrink_to(plan: &QueuePlan, complaint: &str) -> QueuePlan {
    let kind = words_of(complaint);
    shrink(plan, |plan| examine_queues(&play_queues(plan)).iter().any(|other| words_of(other) == kind))
}
