//! A task whose time is up: its deadline has come (seed 000 §3.4), or the time for which it watched something is over (§13). What
//! follows was said when the limit was set. Each limit is up once.

use serde::{Deserialize, Serialize};

use crate::result::{ErrorCode, ErrorDetails};
use crate::time::Wall;

/// What becomes of a task at its deadline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeadlineAction {
    #[default]
    Fail,
    /// Whoever works is stopped, what is there is checked, and the task is over with that.
    CompletePartial,
    /// It rests, and whoever it is for is told.
    PauseAndNotify,
}

impl DeadlineAction {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::CompletePartial => "complete_partial",
            Self::PauseAndNotify => "pause_and_notify",
        }
    }

    pub const fn is_usual(&self) -> bool {
        matches!(self, Self::Fail)
    }

    /// Whether the task is over then.
    pub const fn ends(self) -> bool {
        !matches!(self, Self::PauseAndNotify)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    pub at: Wall,
    pub action: DeadlineAction,
}

/// Whose time it is that is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeLimit {
    Deadline,
    Monitor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeUp {
    pub limit: TimeLimit,
    /// When it was up, whenever that was noticed.
    pub at: Wall,
    pub action: DeadlineAction,
}

impl TimeUp {
    pub fn in_words(&self) -> String {
        let at = self.at.to_rfc3339();
        match self.limit {
            TimeLimit::Deadline => format!("its deadline has come ({at})"),
            TimeLimit::Monitor => format!("the time for which it watched is over ({at})"),
        }
    }

    /// What there is to say of a task that is over with what was there by then.
    pub fn partly(&self, said: Option<String>) -> String {
        let cut_short = format!("{}: this is what was there by then", self.in_words());
        said.map_or_else(|| cut_short.clone(), |said| format!("{said}\n\n({cut_short})"))
    }

    /// What a task that ends by it is told to have ended with.
    pub fn error(&self) -> ErrorDetails {
        ErrorDetails::new(ErrorCode::DeadlineExceeded, self.in_words())
    }
}

impl From<Deadline> for TimeUp {
    fn from(Deadline { at, action }: Deadline) -> Self {
        Self { limit: TimeLimit::Deadline, at, action }
    }
}
