//! What a user gets back: seed 000 §15.2's `TaskResult` with its exact field names, and contracts §9's `ErrorDetails`.

use serde::{Deserialize, Serialize};

use crate::check::CheckResult;
use crate::id::{CommandId, RequestId, SessionId, TaskId};
use crate::usage::{UsageMetrics, Usd};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskResult {
    pub task_id: TaskId,
    pub session_id: SessionId,
    pub command_id: CommandId,
    pub status: TaskResultStatus,
    /// True only when checks confirmed it; a model's word is never enough.
    pub verified: bool,
    /// Its time was up: this is what was there by then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckResult>,
    pub deliverables: Vec<Deliverable>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_message: Option<String>,
    pub evidence_refs: Vec<EvidenceRef>,
    pub usage: UsageMetrics,
    /// Null where a price was not known.
    pub cost_usd: Option<Usd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_details: Option<ErrorDetails>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hitl_request: Option<HitlRequest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskResultStatus {
    Completed,
    Failed,
    BlockedUser,
    Paused,
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deliverable {
    pub filepath: String,
    pub description: String,
    #[serde(rename = "type")]
    pub kind: DeliverableType,
    /// Inline for small text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliverableType {
    Report,
    Code,
    Data,
    Screenshot,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HitlRequest {
    pub request_id: RequestId,
    pub question: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceRef {
    pub ref_id: String,
    #[serde(rename = "type")]
    pub kind: EvidenceType,
    pub uri: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceType {
    Screenshot,
    File,
    Log,
    Url,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorDetails {
    pub error_code: ErrorCode,
    pub category: ErrorCategory,
    pub message: String,
    pub retryable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    MaxIterationsExceeded,
    Timeout,
    /// The time is up that the whole task had.
    DeadlineExceeded,
    BudgetExceeded,
    ModelUnavailable,
    ModelRejected,
    /// The model stopped without saying anything that could end the work.
    AnswerIncomplete,
    /// The conversation does not fit into the model's window, however much is left out of it.
    ContextOverflow,
    /// Nobody could be asked what is known about the task.
    ContextUnavailable,
    /// The agent repeats itself and does not hear that it does.
    DoomLoop,
    /// The agent says that it cannot go on, or its pattern has come to an end without being done.
    Stuck,
    SandboxUnavailable,
    /// Nobody here can carry the execution: its agent is not installed, or not known any more.
    RunnerUnavailable,
    ChecksFailed,
    /// A rule of the operator's says no.
    GateBlocked,
    /// The approval that it needs does not hold.
    ApprovalDenied,
    Interrupted,
    Cancelled,
    Internal,
}

/// Seed 000 §18.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCategory {
    Transient,
    Permanent,
    AgentLevel,
    ToolLevel,
}

impl ErrorCode {
    pub const fn category(self) -> ErrorCategory {
        match self {
            Self::ModelUnavailable | Self::SandboxUnavailable | Self::RunnerUnavailable | Self::Interrupted => {
                ErrorCategory::Transient
            }
            Self::ModelRejected
            | Self::ContextUnavailable
            | Self::ApprovalDenied
            | Self::DeadlineExceeded
            | Self::Internal
            | Self::Cancelled => ErrorCategory::Permanent,
            Self::MaxIterationsExceeded
            | Self::Timeout
            | Self::BudgetExceeded
            | Self::AnswerIncomplete
            | Self::ContextOverflow
            | Self::DoomLoop
            | Self::Stuck
            | Self::GateBlocked
            | Self::ChecksFailed => ErrorCategory::AgentLevel,
        }
    }
}

impl ErrorDetails {
    pub fn new(error_code: ErrorCode, message: impl Into<String>) -> Self {
        let category = error_code.category();
        Self {
            error_code,
            category,
            message: message.into(),
            retryable: category == ErrorCategory::Transient,
            hint: None,
        }
    }

    /// Whether the work itself is as good as it was, and can go on once the world is mended.
    pub fn is_outage(&self) -> bool {
        self.category == ErrorCategory::Transient
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
