//! The records of a session.

use serde::{Deserialize, Serialize};

use crate::caller::CallerName;
use crate::coordinate::{Channel, LOCAL_USER, Names, TriggerType};
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
        Triggered(SessionTriggered) = "session.triggered",
        TaskTaken(TaskTaken) = "session.task_taken",
        TaskLetIn(TaskLetIn) = "session.task_let_in",
        TaskOver(TaskOver) = "session.task_over",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOpened {
    /// The folder that its tasks work in.
    pub workspace: String,
    /// Whose it is: who opened it.
    #[serde(default = "local_user")]
    pub user_id: String,
    #[serde(default)]
    pub channel: Channel,
    /// What its caller calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<CallerName>,
}

impl SessionOpened {
    /// By this machine's own user.
    pub fn local(workspace: String) -> Self {
        Self { workspace, user_id: local_user(), channel: Channel::Cli, called: None }
    }
}

fn local_user() -> String {
    LOCAL_USER.to_owned()
}

/// Something reached the session from outside, and is heeded in the same commit: their order is the order of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTriggered {
    pub trigger_id: CallerName,
    #[serde(rename = "trigger_type")]
    pub kind: TriggerType,
    pub by: String,
    pub channel: Channel,
}

/// A task of the session, from the commit that takes it in until the one that ends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTaken {
    pub task_id: TaskId,
    #[serde(default)]
    pub called: Names,
    /// As many as may be are under way already: it rests until one of them is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

/// There is room for a task that waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLetIn {
    pub task_id: TaskId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskOver {
    pub task_id: TaskId,
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
    /// Unknown of what was said before this was kept: whoever opened the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Speaker>,
}

/// Who speaks, which need not be who opened the session, and by which door.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speaker {
    pub user_id: String,
    pub channel: Channel,
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

impl TurnEnded {
    /// What the user was told.
    pub fn answer(&self) -> String {
        match &self.done {
            TurnDone::Not { why } => why.clone(),
            _ => self.decision.response.clone().unwrap_or_default(),
        }
    }
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
    /// Of its items the one that stands so; where there is none, the whole does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    pub status: ExecutionStatus,
    pub detail: String,
    /// Of the detail: it may be in the words of what an agent ran or read.
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
}
