//! How a command ended and what it said.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    pub status: Status,
    /// Both streams in the order they arrived, as a person at a terminal would have seen them. Of one that is longer
    /// than the command's cap, the beginning and the end, with a line in between that says how many bytes are missing.
    pub combined: Vec<u8>,
    /// Each up to the same cap, in the same way.
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// How many bytes are missing from `combined`, which nobody kept.
    pub dropped: u64,
    /// From start to the end of the command's first process.
    pub duration: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Code(i32),
    Signal(i32),
    TimedOut,
    Cancelled,
    /// Killed because the sandbox reached its memory limit.
    OutOfMemory,
    /// Killed because the sandbox reached its process limit. Where control groups or rlimits hold that limit,
    /// starting a process fails instead, and the command decides how it ends.
    TooManyProcesses,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

impl Status {
    /// Whether memory may be why: a shell reports a killed child as 137.
    pub(crate) fn may_be_oom(self) -> bool {
        matches!(self, Self::Signal(9) | Self::Code(137))
    }
}

impl Exit {
    pub fn success(&self) -> bool {
        self.status == Status::Code(0)
    }
}
