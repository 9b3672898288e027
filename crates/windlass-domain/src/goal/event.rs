//! The records of a goal. Each that ends a look says when the next one is due.

use serde::{Deserialize, Serialize};

use crate::check::CheckResult;
use crate::event::events;
use crate::id::{CardId, GoalId, TaskId};
use crate::plan::Plan;
use crate::result::ErrorDetails;
use crate::task::TaskCreated;
use crate::time::Wall;

events! {
    #[expect(clippy::large_enum_variant, reason = "a goal is added once, and nobody holds many of its events")]
    pub enum GoalEvent {
        Added(GoalAdded) = "goal.added",
        Fired(GoalFired) = "goal.fired",
        Checked(GoalChecked) = "goal.checked",
        Skipped(GoalSkipped) = "goal.skipped",
        Troubled(GoalTroubled) = "goal.troubled",
        Paused(GoalPaused) = "goal.paused",
        Resumed(GoalResumed) = "goal.resumed",
        Removed(GoalRemoved) = "goal.removed",
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GoalAdded {
    pub goal: GoalId,
    pub plan: Plan,
    /// What tasks that mend it are made of; its own number stands where theirs will.
    pub template: Box<TaskCreated>,
    /// The standing approval that was asked for.
    pub card: CardId,
    pub due: Wall,
}

/// Somebody is sent to look. Should that come to nothing, it is looked at again when `due` has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalFired {
    pub firing: u32,
    pub due: Wall,
}

/// How its checks went on the workspace as it was, and who mends it where they failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalChecked {
    pub firing: u32,
    pub results: Vec<CheckResult>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<TaskId>,
    pub due: Wall,
}

/// The fix of an earlier look was still at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalSkipped {
    pub firing: u32,
    pub because: TaskId,
    pub due: Wall,
}

/// Its checks could not be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GoalTroubled {
    pub firing: u32,
    pub error: ErrorDetails,
    pub due: Wall,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalPaused {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalResumed {
    pub due: Wall,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalRemoved {}
