//! Monitors: what a task's agent is told to look at from time to time. The fields are those of seed 000 §13.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MonitorRequest {
    /// How often; 10 at least.
    pub interval_seconds: u64,
    /// What its agent is told each time.
    #[schema(max_length = 4096)]
    pub check_prompt: String,
    /// When to stop, as `2026-12-01T18:00:00+01:00`.
    #[schema(max_length = 64)]
    pub timeout_at: String,
    /// What becomes of the task then.
    pub timeout_action: TimeoutWord,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutWord {
    Complete,
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Monitor {
    pub task_id: String,
    pub interval_seconds: u64,
    pub check_prompt: String,
    pub timeout_at: String,
    pub timeout_action: TimeoutWord,
    /// How often it was looked at so far.
    pub looks: u64,
    /// The next time; none while it rests.
    pub due: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MonitorList {
    pub monitors: Vec<Monitor>,
    pub next: Option<String>,
}
