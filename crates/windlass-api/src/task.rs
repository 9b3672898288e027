//! Tasks: what is asked for, how it stands, what came of it, and what may be said to it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What is to be done, and when a machine can tell that it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaskRequest {
    /// In words; with a plan, its title stands for it.
    #[schema(max_length = 65536)]
    pub goal: String,
    /// The folder to work in, in one of those that the operator has listed; without one, the first of them.
    #[schema(max_length = 4096)]
    pub workspace: Option<String>,
    /// Checks in YAML flow form, as `command: cargo test`.
    #[schema(max_items = 100)]
    pub base_case: Vec<String>,
    /// Rules that everybody who works on it must keep to.
    #[schema(max_items = 100)]
    pub constraints: Vec<String>,
    pub planning: PlanningWord,
    /// A plan document in Markdown with YAML front matter, with `planning: given`.
    #[schema(max_length = 1048576)]
    pub document: Option<String>,
    /// Who works on it; without one, Windlass's own agent.
    #[schema(max_length = 64)]
    pub agent: Option<String>,
    #[schema(max_length = 256)]
    pub model: Option<String>,
    #[schema(max_length = 64)]
    pub pattern: Option<String>,
    /// The model is given no tools and asked for one decision at a time, as one that has none is in any case.
    pub tactician: bool,
    /// Texts and pictures that belong to the goal.
    #[schema(max_items = 50)]
    pub attachments: Vec<AttachmentRequest>,
    pub limits: LimitsRequest,
    /// The agent's program has a screen of its own, to be looked at and typed into.
    pub terminal: bool,
    /// When it is over in any case: `2026-12-01T18:00:00+01:00`, or from now: `90s`, `30m`, `2h`, `3d`.
    #[schema(max_length = 64)]
    pub deadline: Option<String>,
    /// What becomes of it then; without one it has failed.
    pub deadline_action: Option<DeadlineWord>,
    /// The conversation that it belongs to, whose folder is its own: what becomes of it is told there.
    #[schema(max_length = 64)]
    pub session_id: Option<String>,
}

/// A text, or a picture as PNG, JPEG, GIF or WebP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachmentRequest {
    /// As a file is called.
    pub name: String,
    /// All of it, in base64.
    pub content: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeadlineWord {
    Fail,
    /// It is checked as it is, and over.
    CompletePartial,
    /// It rests until somebody resumes it.
    PauseAndNotify,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanningWord {
    /// One agent works on all of it.
    #[default]
    None,
    /// A planner is to write a plan first.
    Wanted,
    /// The plan is in `document`.
    Given,
    /// A planner is to find out what is wanted, and when a machine can tell that it is there; it begins with `start`.
    Aligning,
}

/// What of the budgets and limits is not to be as the operator has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsRequest {
    pub max_tokens: Option<u64>,
    pub max_cost_usd: Option<f64>,
    pub max_attempts: Option<u32>,
    pub max_iterations: Option<u32>,
    pub timeout_seconds: Option<u64>,
}

/// It is kept, and will be worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskAccepted {
    pub task_id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Task {
    pub task_id: String,
    /// Seed 000 §3.4: RUNNING, PAUSED, COMPLETED, FAILED or CANCELLED.
    pub status: Value,
    /// The same in more detail: verified, completed, failed, cancelled, running, waiting, answered, agreed, stopped, paused,
    /// interrupted or queued.
    pub standing: String,
    /// What people are asked.
    pub waits_for: Value,
    pub goal: String,
    /// What it is called: of a part its item's title, otherwise the first line of the goal.
    pub title: String,
    /// Whose part it is, if it is one. A part is paused, stopped and redirected with the whole.
    pub part_of: Option<TaskPart>,
    pub workspace: String,
    pub created_at: String,
    pub attempts: usize,
    pub planned: bool,
    /// The TaskResult, once there is one.
    pub result: Value,
}

/// Of which task it is a part, and what it does there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskPart {
    /// The whole.
    pub root: String,
    pub title: String,
    /// The part that asked for it, or the whole.
    pub asked_by: String,
    /// atom, plan, research, guidance, probe, split or correction.
    pub kind: String,
    /// The item of the plan that it is about.
    pub atom: Option<String>,
}

/// A page, the newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskList {
    pub tasks: Vec<Task>,
    /// Where the next page begins; none after the last.
    pub next: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WishRequest {
    /// Why, for the records.
    #[schema(max_length = 1000)]
    pub reason: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StartRequest {
    /// The second step, for what reaches beyond its folder.
    pub confirmed: bool,
    /// What was shown of it (`GET` of the same address): what has become something else since is not begun.
    #[schema(max_length = 100)]
    pub seen: Option<String>,
}

/// What whoever begins it approves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToStart {
    pub task_id: String,
    /// With its items, checks and worst case, as a card in Review; none of what was begun before, which goes on.
    pub card: Value,
    /// Stands for all this: say it with `POST`.
    pub seen: Option<String>,
}

/// It was heard; whether it has come about, the task says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Heard {
    pub task_id: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MessageRequest {
    /// The words; of the kind `model`, which one. Some kinds have words of their own where none are said.
    #[schema(max_length = 65536)]
    pub message: String,
    /// As what it is heard; without one, as an answer where there is a question, and as words otherwise.
    pub kind: Option<MessageWord>,
    /// The question that it answers; without one, the only open one of the task's, or none.
    pub request_id: Option<String>,
}

/// The kinds of message that whoever works may hear. Not everybody hears each of them at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageWord {
    Prompt,
    Reply,
    Resume,
    /// Say where you are.
    Checkpoint,
    /// Go on.
    Nudge,
    /// Break off what you do, and wait for words.
    Interrupt,
    /// Rest until somebody says that it goes on.
    Stop,
    /// Another model is asked from the next question on.
    Model,
}

/// What became of a message to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MessageSent {
    pub task_id: String,
    /// Seed 000's: `hitl_response` where it answered a question, `system_control` of an interrupt, a stop or a model, `user_message`
    /// otherwise.
    pub injection_type: String,
    pub request_id: Option<String>,
    /// As it was asked for.
    pub kind: Option<MessageWord>,
}

/// A record of a journal, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Record {
    pub position: u64,
    pub at: String,
    /// Whose journal, as `task/0198…`.
    pub stream: String,
    pub kind: String,
    pub version: u16,
    pub data: Value,
    /// Where people see it.
    #[serde(default)]
    pub surfaces: Vec<SurfaceWord>,
}

/// Beside a conversation, among what is asked, or in the record of what happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SurfaceWord {
    Stream,
    Review,
    Activity,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordList {
    pub records: Vec<Record>,
    pub next: Option<String>,
}

/// What happened, newest first. A page may be empty and not be the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Activity {
    pub records: Vec<Record>,
    pub next: Option<String>,
    /// The position of the newest record of all: whoever goes on by `/v1/events` listens from here.
    pub last: u64,
}
