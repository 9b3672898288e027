//! How the program ends: a number for scripts, and for a person what went wrong and what to do about it.

use std::process::ExitCode;

use windlass_domain::TaskResultStatus;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exit {
    #[default]
    Completed,
    Failed,
    WrongUse,
    BlockedOnUser,
    Stopped,
    Paused,
}

impl Exit {
    const ALL: [Self; 6] =
        [Self::Completed, Self::Failed, Self::WrongUse, Self::BlockedOnUser, Self::Stopped, Self::Paused];

    pub const fn number(self) -> u8 {
        match self {
            Self::Completed => 0,
            Self::Failed => 1,
            Self::WrongUse => 2,
            Self::BlockedOnUser => 3,
            Self::Stopped => 4,
            Self::Paused => 5,
        }
    }

    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|exit| exit.number() == number)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
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
