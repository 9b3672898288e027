//! One running command and what time or its owner decides about it. Deciding only; the server acts.

use std::{
    os::{fd::OwnedFd, unix::net::UnixStream},
    time::{Duration, Instant},
};

use rustix::process::WaitStatus;

use super::launch::Minder;
use crate::Status;

pub(crate) struct Job {
    pub(crate) control: UnixStream,
    pub(crate) minder: Minder,
    /// The command's terminal. Held until nothing of it runs: a program may close all it has of its terminal and open that
    /// again, and whoever looks on must not take this for the end.
    pub(crate) _terminal: Option<OwnedFd>,
    pub(crate) started: Instant,
    pub(crate) grace: Duration,
    /// What the kernel had killed for want of memory when it started.
    pub(crate) oom_kills: u64,
    pub(crate) phase: Phase,
    /// Set when the minder was reaped.
    pub(crate) ended: Option<(WaitStatus, Instant)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Running {
        until: Instant,
    },
    /// Asked to end.
    Stopping {
        why: Why,
        kill_at: Instant,
    },
    /// Its minder was killed, and everything below falls to the supervisor.
    Killed {
        why: Why,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    TimedOut,
    Cancelled,
    /// The owner stopped listening.
    Abandoned,
    OutOfMemory,
    TooManyProcesses,
}

/// What the server has to do about a job now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    Ask(Why),
    Kill(Why),
}

impl Phase {
    pub(crate) fn due(self, now: Instant) -> Due {
        match self {
            Self::Running { until } if until <= now => Due::Ask(Why::TimedOut),
            Self::Stopping { why, kill_at } if kill_at <= now => Due::Kill(why),
            Self::Running { .. } | Self::Stopping { .. } | Self::Killed { .. } => Due::Nothing,
        }
    }

    pub(crate) fn next_wake(self) -> Option<Instant> {
        match self {
            Self::Running { until } => Some(until),
            Self::Stopping { kill_at, .. } => Some(kill_at),
            Self::Killed { .. } => None,
        }
    }

    fn why(self) -> Option<Why> {
        match self {
            Self::Running { .. } => None,
            Self::Stopping { why, .. } | Self::Killed { why } => Some(why),
        }
    }
}

impl Job {
    /// Whether what the command left may still use up its grace: it was asked to end, its leader did, the rest
    /// has not yet.
    pub(crate) fn is_in_grace(&self) -> bool {
        self.ended.is_some() && matches!(self.phase, Phase::Stopping { .. })
    }

    /// Being stopped outweighs how the leader then ended.
    pub(crate) fn status(&self, ended: WaitStatus) -> Status {
        match self.phase.why() {
            Some(Why::TimedOut) => Status::TimedOut,
            Some(Why::Cancelled | Why::Abandoned) => Status::Cancelled,
            Some(Why::OutOfMemory) => Status::OutOfMemory,
            Some(Why::TooManyProcesses) => Status::TooManyProcesses,
            None => match ended.terminating_signal() {
                Some(signal) => Status::Signal(signal),
                None => Status::Code(ended.exit_status().unwrap_or(-1)),
            },
        }
    }
}
