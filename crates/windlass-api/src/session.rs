//! Conversations: what a user says about a folder, what is answered, and the tasks that came of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionRequest {
    /// The folder of its tasks; without one, the first that the operator has listed.
    #[schema(max_length = 4096)]
    pub workspace: Option<String>,
    /// One of several conversations about the same folder.
    #[schema(max_length = 256)]
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Session {
    pub session_id: String,
    /// None before something was said in it.
    pub workspace: Option<String>,
    /// The turn that is under way.
    pub turn: Option<String>,
    /// How much was said that has had no turn yet.
    pub unheard: usize,
    /// Whose it is: whoever spoke in it first.
    pub user_id: String,
    /// The door by which they did: cli, http or redis; none before.
    pub channel: Option<String>,
    /// The newest of its tasks that is under way.
    pub active_task_id: Option<String>,
    /// The newest hundred, oldest first.
    pub tasks: Vec<SessionTask>,
    /// Where its first record is; none before something was said.
    pub began_position: Option<u64>,
    /// When it had its newest record.
    pub last_at: Option<String>,
    /// What it began with, its first words.
    pub first_words: Option<String>,
}

/// Seed 000 §3.4's `TaskEntry`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionTask {
    pub task_id: String,
    pub goal_summary: String,
    /// RUNNING, PAUSED, COMPLETED, FAILED or CANCELLED.
    pub status: String,
    /// The newest execution; the task itself before there is one.
    pub agent_session_id: String,
    pub created_at: String,
    pub completed_at: Option<String>,
    pub paused_at: Option<String>,
    pub deadline: Option<String>,
    pub deadline_action: Option<String>,
}

/// A conversation as a list has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionSummary {
    pub session_id: String,
    pub workspace: Option<String>,
    pub turn: Option<String>,
    pub unheard: usize,
    pub user_id: String,
    pub channel: Option<String>,
    /// Their ids, oldest first.
    pub tasks: Vec<String>,
    /// Where its first record is.
    pub began_position: Option<u64>,
    /// When it had its newest record.
    pub last_at: Option<String>,
    /// What it began with, its first words.
    pub first_words: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionList {
    pub sessions: Vec<SessionSummary>,
    pub next: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SayRequest {
    #[schema(max_length = 65536)]
    pub message: String,
    /// Of a conversation in which nothing was said yet.
    #[schema(max_length = 4096)]
    pub workspace: Option<String>,
    #[schema(max_length = 256)]
    pub model: Option<String>,
    /// Of a task that begins with it, as of one that is planned.
    pub limits: crate::LimitsRequest,
    /// Texts and pictures that belong to it: whoever answers has them, and so has a task that begins with it.
    #[schema(max_items = 50)]
    pub attachments: Vec<crate::AttachmentRequest>,
    /// Who says it, where that is not who asks: a token with the scope `admin` may speak for others.
    #[schema(min_length = 1, max_length = 256)]
    pub user_id: Option<String>,
}

/// It is kept, and will be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SaidAccepted {
    pub session_id: String,
    pub message_id: String,
    /// The turn that answers it; none where another is under way, after which it has its own.
    pub turn: Option<String>,
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Utterance {
    /// user or windlass.
    pub by: String,
    pub words: String,
}

/// Oldest first, in the order in which it was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Conversation {
    pub session_id: String,
    pub said: Vec<Utterance>,
    /// What was told of each task.
    pub news: Value,
    pub next: Option<String>,
}
