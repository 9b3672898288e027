//! Who goes first when memory runs out: commands before the supervisor, which has to report how they ended.
//!
//! A process is born with its parent's score, and inside a sandbox nobody can write one, the supervisor included. So its
//! owner opens the supervisor's own for it, and the supervisor raises itself for the moment in which a command is born.

use std::{fs, os::fd::OwnedFd};

/// The kernel's highest: before anything else on the machine.
const COMMANDS: &[u8] = b"1000";

pub(crate) struct Score {
    /// `None` where it could not be opened; commands and the supervisor then have the same.
    file: Option<OwnedFd>,
    own: Vec<u8>,
}

impl Score {
    pub(crate) fn new(file: Option<OwnedFd>) -> Self {
        let own = fs::read("/proc/self/oom_score_adj").ok();
        Self { file: file.filter(|_| own.is_some()), own: own.unwrap_or_default() }
    }

    /// What is born in `give_birth` has the commands' score.
    pub(crate) fn of_commands<T>(&self, give_birth: impl FnOnce() -> T) -> T {
        self.set(COMMANDS);
        let born = give_birth();
        self.set(&self.own);
        born
    }

    /// Raising is always allowed, and so is going back to a score that was allowed before.
    fn set(&self, score: &[u8]) {
        if let Some(file) = &self.file {
            let _ = rustix::io::write(file, score);
        }
    }
}
