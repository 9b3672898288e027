//! Where the database is and how it behaves. The defaults are what production runs; the rest is for tests that want a
//! different disk or an unsafe one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::providers::sqlite::halt::Halt;

#[derive(Debug, Clone)]
pub struct Options {
    pub(super) data_dir: PathBuf,
    pub(super) synchronous: Synchronous,
    pub(super) vfs: Option<String>,
    pub(super) halt: Halt,
    pub(super) limits: Limits,
    pub(super) work: Work,
}

/// Where commits and reads are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    OnThreads,
    OnCallersThread,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronous {
    /// Every commit is synced before it is acknowledged.
    Full,
    /// Acknowledged commits can be lost in a power cut. It exists so that a test can show that they are.
    Normal,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Commits that wait for the writer, together; beyond it callers wait.
    pub queue_bytes: usize,
    /// One transaction. Large enough to share a sync widely, small enough that its first caller need not wait for long.
    pub group_commits: usize,
    pub group_bytes: usize,
    pub readers: usize,
    /// How long another process may hold the database.
    pub busy_timeout: Duration,
    /// Log frames (pages) from which the log is moved into the database file.
    pub log_frames: u64,
    /// Log frames from which the writer does it itself, whoever waits.
    pub most_log_frames: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            queue_bytes: 64 << 20,
            group_commits: 512,
            group_bytes: 8 << 20,
            readers: 4,
            busy_timeout: Duration::from_secs(30),
            log_frames: 2_000,
            most_log_frames: 32_000,
        }
    }
}

impl Options {
    /// `data_dir` is created if it is not there, readable by its owner alone.
    pub fn new(data_dir: impl AsRef<Path>) -> Self {
        Self {
            data_dir: data_dir.as_ref().to_path_buf(),
            synchronous: Synchronous::Full,
            vfs: None,
            halt: Halt::abort(),
            limits: Limits::default(),
            work: Work::OnThreads,
        }
    }

    /// For a process that does one thing at a time: whoever commits or reads does it himself. He need not wait for threads
    /// to wake up, and nobody else has a use for the time that a sync takes.
    #[must_use]
    pub const fn on_callers_thread(mut self) -> Self {
        self.work = Work::OnCallersThread;
        self
    }

    /// What to do when the disk does not confirm a write, instead of aborting the process.
    #[must_use]
    pub fn on_halt(mut self, halt: Halt) -> Self {
        self.halt = halt;
        self
    }

    /// For tests: how much is asked of the disk.
    #[must_use]
    pub const fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// For tests: the SQLite VFS to use, a disk that can be made to fail.
    #[must_use]
    pub fn vfs(mut self, name: impl Into<String>) -> Self {
        self.vfs = Some(name.into());
        self
    }

    /// How long to wait for another process that holds the database.
    #[must_use]
    pub const fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.limits.busy_timeout = timeout;
        self
    }

    /// For tests: the number of log pages from which the log is moved into the database file. At sixteen times as many the
    /// writer does it itself.
    #[must_use]
    pub const fn log_frames(mut self, frames: u64) -> Self {
        self.limits.log_frames = frames;
        self.limits.most_log_frames = frames.saturating_mul(16);
        self
    }

    /// How many bytes of commits may wait for the writer before callers do.
    #[must_use]
    pub const fn queue_bytes(mut self, bytes: usize) -> Self {
        self.limits.queue_bytes = bytes;
        self
    }

    /// The database.
    pub fn file(&self) -> PathBuf {
        self.database()
    }

    /// What the database is called once all of it is somewhere else: whoever finds this and no database looks in the wrong place.
    pub fn moved(&self) -> PathBuf {
        self.data_dir.join("windlass.db.moved")
    }

    pub(super) fn database(&self) -> PathBuf {
        self.data_dir.join("windlass.db")
    }

    pub(super) fn blobs(&self) -> PathBuf {
        self.data_dir.join("blobs")
    }
}
