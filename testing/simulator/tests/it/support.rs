//! Where histories are played, and how a bad one is reported.

use std::path::PathBuf;

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

    fn world(&self) -> PathBuf {
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
