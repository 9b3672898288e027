//! What is looked at, how often, and until when: seed 000 §13.1's `MonitoringSchedule`, field for field. Which task it is about stands
//! in the name of its stream.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::task::DeadlineAction;
use crate::time::{Wall, moment};

/// Each look asks a model.
pub const SHORTEST_INTERVAL_SECONDS: u64 = 10;
/// In bytes. What is longer belongs into a file of the workspace.
pub const LONGEST_PROMPT: usize = 4 << 10;
pub const LONGEST_WATCH: Duration = Duration::from_secs(90 * 24 * 60 * 60);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitoringSchedule {
    pub interval_seconds: u64,
    pub check_prompt: String,
    #[serde(with = "moment")]
    pub timeout_at: Wall,
    pub timeout_action: TimeoutAction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutAction {
    Complete,
    Fail,
}

impl From<TimeoutAction> for DeadlineAction {
    fn from(action: TimeoutAction) -> Self {
        match action {
            TimeoutAction::Complete => Self::CompletePartial,
            TimeoutAction::Fail => Self::Fail,
        }
    }
}

/// Why nobody goes by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("look at most every {SHORTEST_INTERVAL_SECONDS} seconds (interval_seconds)")]
    TooOften,
    #[error("say what is to be looked at (check_prompt)")]
    NoPrompt,
    #[error("say what is to be looked at in at most {LONGEST_PROMPT} bytes (check_prompt); put the rest into a file")]
    PromptTooLong,
    #[error("the end of it must lie in the future (timeout_at)")]
    Past,
    #[error("the end of it must lie within 90 days (timeout_at)")]
    TooFar,
    #[error("there is no look before its end: bring interval_seconds below what is left until timeout_at")]
    NoLook,
}

impl MonitoringSchedule {
    pub const fn interval(&self) -> Duration {
        Duration::from_secs(self.interval_seconds)
    }

    pub fn objection(&self, now: Wall) -> Option<Unfit> {
        if self.interval_seconds < SHORTEST_INTERVAL_SECONDS {
            return Some(Unfit::TooOften);
        }
        if self.check_prompt.trim().is_empty() {
            return Some(Unfit::NoPrompt);
        }
        if self.check_prompt.len() > LONGEST_PROMPT {
            return Some(Unfit::PromptTooLong);
        }
        if self.timeout_at <= now {
            return Some(Unfit::Past);
        }
        if self.timeout_at > now + LONGEST_WATCH {
            return Some(Unfit::TooFar);
        }
        (now + self.interval() >= self.timeout_at).then_some(Unfit::NoLook)
    }
}
