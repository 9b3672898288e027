//! Where histories are played, and how a bad one is reported.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use windlass_simulator::{History, Plan, Scenario, examine, play, story};

/// A folder for one history after another. In memory where the machine has such a place: the world's files are synced
/// often, and nothing here is about disks.
pub struct Arena {
    folder: tempfile::TempDir,
}

impl Arena {
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self { folder: folder.expect("there is room for a temporary folder") }
    }

    pub fn world(&self) -> PathBuf {
        self.folder.path().join("world")
    }

    pub fn play(&self, scenario: &Scenario, plan: &Plan) -> History {
        play(scenario, plan, &self.world())
    }
}

pub fn assert_good(history: &History, clean: &History) {
    let complaints = examine(history, clean);
    assert!(complaints.is_empty(), "\n  {}\n\n{}", complaints.join("\n  "), story(history));
}

/// How much is asked for: `make test` wants an answer soon, `make sim` wants all of them.
pub const FEW_SEEDS: u64 = 20;

#[expect(clippy::disallowed_methods, reason = "how long a test may take is its caller's to say")]
pub fn seeds() -> u64 {
    std::env::var("WINDLASS_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(FEW_SEEDS)
}

/// What was played altogether. A step is one call across a port, as a process makes it or dies in it; a poll is one turn of
/// one task.
#[derive(Debug, Default)]
pub struct Totals {
    histories: AtomicU64,
    steps: AtomicU64,
    polls: AtomicU64,
}

impl Totals {
    pub fn add(&self, steps: u64, polls: u64) {
        self.histories.fetch_add(1, Ordering::Relaxed);
        self.steps.fetch_add(steps, Ordering::Relaxed);
        self.polls.fetch_add(polls, Ordering::Relaxed);
    }

    pub fn histories(&self) -> u64 {
        self.histories.load(Ordering::Relaxed)
    }

    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (histories, steps, polls) = (self.histories(), self.steps(), self.polls.load(Ordering::Relaxed));
        write!(f, "{histories} histories without a violation: {steps} steps (calls across ports), {polls} polls")
    }
}

/// Gives every seed to `play`, on as many threads as there are cores, each with something of its own.
#[expect(clippy::disallowed_methods, reason = "each history is a world of its own, and none waits for another")]
pub fn on_every_core<T>(seeds: std::ops::Range<u64>, own: impl Fn() -> T + Sync, play: impl Fn(&T, u64) + Sync) {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicU64::new(seeds.start);
    let work = || {
        let own = own();
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                seed if seed < seeds.end => play(&own, seed),
                _ => return,
            }
        }
    };
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
}

/// A complaint without its numbers and names.
pub fn words_of(complaint: &str) -> String {
    let is_word = |word: &&str| word.chars().all(|letter| letter.is_alphabetic() || letter == ',');
    complaint.split(' ').filter(is_word).collect::<Vec<_>>().join(" ")
}
