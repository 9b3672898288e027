//! Which database, and how much of it one process takes for itself.

use std::time::Duration;

use crate::providers::postgres::address::Address;

#[derive(Debug, Clone)]
pub struct Options {
    pub(super) address: Address,
    pub(super) limits: Limits,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Commits that wait for the writer, together; beyond it callers wait.
    pub queue_bytes: usize,
    /// One transaction. All processes take turns, so it should not be long.
    pub group_commits: usize,
    pub group_bytes: usize,
    pub readers: usize,
    /// How long a caller waits for a server that is gone.
    pub patience: Duration,
    /// How long other processes may keep this one from writing.
    pub lock_timeout: Duration,
    /// How long one statement may take.
    pub statement_timeout: Duration,
    /// A process that stands still in the middle of a transaction holds up all others: for so long.
    pub idle_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            queue_bytes: 64 << 20,
            group_commits: 512,
            group_bytes: 8 << 20,
            readers: 4,
            patience: Duration::from_secs(30),
            lock_timeout: Duration::from_secs(30),
            statement_timeout: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(10),
        }
    }
}

impl Options {
    pub fn new(address: Address) -> Self {
        Self { address, limits: Limits::default() }
    }

    /// The database without the password, for people.
    pub fn place(&self) -> &str {
        self.address.place()
    }

    /// How long to wait for a server that is gone before callers are told.
    #[must_use]
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.limits.patience = patience;
        self
    }
}
