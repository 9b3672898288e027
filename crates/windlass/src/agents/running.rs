//! What an agent of another's finds when it is run here: a home of its own, the words it is told, and its version, which is asked once
//! for as long as the program is the same.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use windlass_adapters::{Briefed, Briefing, Kept};
use windlass_agent::{foreign_instructions, task_message};
use windlass_domain::{ExecutionId, Wall, millis};
use windlass_workspace::{Error, Kind, SnapshotLimits, copy_some, make_whole};

pub use windlass_adapters::Versions;

/// What programs said of their versions, in the data directory.
pub fn versions(data_dir: &Path) -> Versions {
    Versions::kept_in(data_dir.join("agent-versions.json"))
}

pub const INSIDE_HOME: &str = "/home/agent";
pub const INSIDE_WORKSPACE: &str = "/workspace";

/// Below the homes: those that others begin with.
const FORKED: &str = "forked";
/// Below the homes: when each was last used. An agent can set the time of its home, and not of these.
const USED: &str = "used";
/// Clocks differ by less.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// More is hardly a conversation, and a copy of it takes long.
const MOST: SnapshotLimits =
    SnapshotLimits { files: 20_000, bytes: 2 * 1024 * 1024 * 1024, git_silence: Duration::ZERO };

/// The homes of executions, below the data directory: an agent's conversation is in one, for as long as its task may go on
/// and a while longer.
#[derive(Debug, Clone)]
pub struct Homes(PathBuf);

impl Homes {
    pub fn new(data_dir: &Path) -> Self {
        Self(data_dir.join("homes"))
    }

    pub fn of(&self, execution: ExecutionId) -> PathBuf {
        self.0.join(execution.to_string())
    }

    /// The same folder each time, in use from now on.
    pub fn make(&self, execution: ExecutionId, now: Wall) -> std::io::Result<PathBuf> {
        let home = self.of(execution);
        make_private(&home)?;
        let used = self.used(execution);
        used.parent().map_or(Ok(()), make_private)?;
        std::fs::File::create(used)?.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(now.as_millis()))?;
        Ok(home)
    }

    /// Copies the conversation in the home of an execution, for others to begin with. Whoever forks has begun nothing yet, and is ended by
    /// any signal.
    pub fn keep(&self, execution: ExecutionId, forked: ExecutionId, kept: Kept) -> Result<(), String> {
        copy_kept(&self.of(execution), &self.forked(forked), kept, &|| false)
    }

    /// A home that is not there yet begins as what was kept.
    pub fn begin_as(
        &self,
        forked: ExecutionId,
        execution: ExecutionId,
        kept: Kept,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        copy_kept(&self.forked(forked), &self.of(execution), kept, should_stop)
    }

    fn forked(&self, forked: ExecutionId) -> PathBuf {
        self.0.join(FORKED).join(forked.to_string())
    }

    fn used(&self, execution: ExecutionId) -> PathBuf {
        self.0.join(USED).join(execution.to_string())
    }

    /// What was kept for so long nobody begins with any more, whoever it was kept for.
    pub fn drop_kept(&self, length: Duration, now: Wall) {
        let forked = Self(self.0.join(FORKED));
        forked.unused_for(length, now).into_iter().for_each(|old| forked.remove(old));
    }

    /// One of which nobody knows when it was used is as old as it looks.
    pub fn unused_for(&self, length: Duration, now: Wall) -> Vec<ExecutionId> {
        let is_old = |execution: &ExecutionId| {
            let used =
                std::fs::metadata(self.used(*execution)).or_else(|_| std::fs::symlink_metadata(self.of(*execution)));
            let used = used.ok()?.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            let used = Wall::from_millis(millis(used));
            // Nothing was used in times to come.
            Some(now.since(used) > length || used.since(now) > DAY)
        };
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let executions = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        executions.filter(|execution| is_old(execution) == Some(true)).collect()
    }

    /// What cannot be removed now is tried again by the next process.
    pub fn remove(&self, execution: ExecutionId) {
        if windlass_workspace::remove_folder(&self.of(execution)).is_ok() {
            let _nothing_depends_on_it = std::fs::remove_file(self.used(execution));
        }
    }
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// There whole or not at all: plain files that are the conversation's, and nothing else that an agent may have put there.
fn copy_kept(from: &Path, to: &Path, kept: Kept, should_stop: &dyn Fn() -> bool) -> Result<(), String> {
    let takes = |path: &Path, kind| match kind {
        Kind::File => kept.takes(path),
        Kind::Folder => kept.leads(path),
        Kind::Symlink | Kind::Other => false,
    };
    let copied = make_whole(to, |into| copy_some(from, into, &takes, MOST, should_stop));
    copied.map(drop).map_err(|error| match error {
        Error::TooMuch { most, folder } => format!(
            "`{folder}` in the agent's home holds more than {most}, which is more than a conversation comes to; begin a new one with `windlass run`"
        ),
        other => other.to_string(),
    })
}

pub fn briefing() -> Briefing {
    Box::new(|launch| Briefed {
        instructions: foreign_instructions(launch.asked),
        prompt: task_message(launch.role, &launch.task, None),
    })
}
