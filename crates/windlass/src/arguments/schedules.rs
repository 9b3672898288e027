//! What can be typed about deadlines and schedules.

use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use windlass_domain::Wall;
use windlass_domain::monitor::TimeoutAction;
use windlass_domain::task::{Deadline, DeadlineAction};

use super::Output;
use crate::exit::WrongUse;
use crate::moment::moment;

/// Until when a task may take, whatever it does by then.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct DeadlineChoice {
    /// When it is over in any case: 2026-12-01T18:00:00+01:00, or from now: 90s, 30m, 2h, 3d
    #[arg(long, value_name = "WHEN", help_heading = "Limits")]
    pub deadline: Option<String>,
    /// What becomes of it then [default: fail]
    #[arg(long, value_enum, value_name = "ACTION", requires = "deadline", help_heading = "Limits")]
    pub deadline_action: Option<DeadlineActionName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[value(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum DeadlineActionName {
    /// It has failed
    Fail,
    /// It is checked as it is, and over
    CompletePartial,
    /// It rests until you resume it
    PauseAndNotify,
}

impl DeadlineChoice {
    pub fn meant(&self, now: Wall) -> Result<Option<Deadline>, WrongUse> {
        let Some(text) = &self.deadline else { return Ok(None) };
        let action = match self.deadline_action {
            None | Some(DeadlineActionName::Fail) => DeadlineAction::Fail,
            Some(DeadlineActionName::CompletePartial) => DeadlineAction::CompletePartial,
            Some(DeadlineActionName::PauseAndNotify) => DeadlineAction::PauseAndNotify,
        };
        Ok(Some(Deadline { at: moment("--deadline", text, now)?, action }))
    }
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchedulesCommand {
    /// Show all that is due some time, the next first: deadlines, monitors and goals
    List(Output),
    /// Have a task's agent told to look at something from time to time
    Add(SchedulesAdd),
    /// Tell it no more
    Remove(SchedulesRemove),
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct SchedulesAdd {
    /// A task's id, or the end of it
    pub task: String,
    /// How often: 30s, 5m, 1h
    #[arg(long, value_name = "LENGTH")]
    pub every: String,
    /// What its agent is told each time
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub check: String,
    /// When to stop: 2026-12-01T18:00:00+01:00, or from now: 30m, 2h, 3d
    #[arg(long, value_name = "WHEN")]
    pub until: String,
    /// What becomes of the task then
    #[arg(long, value_enum, value_name = "ACTION", default_value = "fail")]
    pub then: Then,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    Complete,
    Fail,
}

impl From<Then> for TimeoutAction {
    fn from(then: Then) -> Self {
        match then {
            Then::Complete => Self::Complete,
            Then::Fail => Self::Fail,
        }
    }
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct SchedulesRemove {
    /// A task's id, or the end of it
    pub task: String,
    #[command(flatten)]
    pub output: Output,
}
