//! How the program ends: a number for scripts, and for a person what went wrong and what to do about it.

use std::process::ExitCode;

use windlass_domain::TaskResultStatus;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Completed,
    Failed,
    WrongUse,
    BlockedOnUser,
    Stopped,
    Paused,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Completed => 0,
            Exit::Failed => 1,
            Exit::WrongUse => 2,
            Exit::BlockedOnUser => 3,
            Exit::Stopped => 4,
            Exit::Paused => 5,
        })
    }
}

impl From<TaskResultStatus> for Exit {
    fn from(status: TaskResultStatus) -> Self {
        match status {
            TaskResultStatus::Completed => Self::Completed,
            TaskResultStatus::Failed => Self::Failed,
            TaskResultStatus::BlockedUser => Self::BlockedOnUser,
            TaskResultStatus::Paused => Self::Paused,
            TaskResultStatus::Cancelled => Self::Stopped,
        }
    }
}

/// The user's mistake, as opposed to ours: exit code 2, and no more than they need to mend it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct WrongUse {
    pub message: String,
    pub hint: Option<String>,
}

impl WrongUse {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
