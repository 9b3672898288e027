//! Playing many histories on every core, and reporting a bad one: shrunk, with its story.

use std::sync::atomic::{AtomicU64, Ordering};

use windlass_simulator::{QueueHistory, QueuePlan, examine_queues, play_queues, queue_story, shrink};

/// What was played altogether. A step is one call across the store's port, as a process makes it or dies in it; a poll is one
/// turn of one task.
#[derive(Debug, Default)]
pub struct Totals {
    pub histories: AtomicU64,
    pub steps: AtomicU64,
    pub polls: AtomicU64,
}

impl Totals {
    pub fn add(&self, history: &QueueHistory) {
        self.histories.fetch_add(1, Ordering::Relaxed);
        self.steps.fetch_add(history.calls, Ordering::Relaxed);
        self.polls.fetch_add(history.polls, Ordering::Relaxed);
    }
}

/// Gives every seed to `play`, on as many threads as there are cores.
#[expect(clippy::disallowed_methods, reason = "each history is a world of its own, and none waits for another")]
pub fn on_every_core(seeds: std::ops::Range<u64>, play: impl Fn(u64) + Sync) {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicU64::new(seeds.start);
    let work = || {
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                seed if seed < seeds.end => play(seed),
                _ => return,
            }
        }
    };
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
}

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

/// A complaint without its numbers and names.
fn words_of(complaint: &str) -> String {
    let is_word = |word: &&str| word.chars().all(|letter| letter.is_alphabetic() || letter == ',');
    complaint.split(' ').filter(is_word).collect::<Vec<_>>().join(" ")
}
