//! The records of a session.

use serde::{Deserialize, Serialize};

use crate::event::events;
use crate::id::{MessageId, TaskId};
use crate::queue::ExecutionStatus;
use crate::role_output::RouteDecision;
use crate::taint::Taint;
use crate::task::TaskCreated;

events! {
    pub enum SessionEvent {
        Opened(SessionOpened) = "session.opened",
        UserSaid(UserSaid) = "user.said",
        TurnStarted(TurnStarted) = "turn.started",
        TurnEnded(TurnEnded) = "turn.ended",
        StatusTold(StatusTold) = "status.told",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOpened {
    /// The folder that its tasks work in.
    pub workspace: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UserSaid {
    pub message_id: MessageId,
    pub words: String,
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
    /// What its turn is begun with, where it has to wait for that: the options that it was said with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Box<TaskCreated>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStarted {
    pub message_id: MessageId,
    /// Who thinks about it.
    pub run: TaskId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnded {
    pub run: TaskId,
    pub decision: RouteDecision,
    pub done: TurnDone,
    /// Joined over everything that went into the answer.
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
}

/// What the runtime made of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnDone {
    /// The answer is all there is.
    Answered,
    /// A task was begun.
    Began { task: TaskId },
    /// A task that is under way was told, or asked to stop or to go on.
    Told { task: TaskId },
    /// It cannot be done; why, in words for the user.
    Not { why: String },
}

/// How a task of the session stands: the newest news of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusTold {
    pub task: TaskId,
    pub status: ExecutionStatus,
    pub detail: String,
    /// Of the detail: it may be in the words of what an agent ran or read.
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
}
