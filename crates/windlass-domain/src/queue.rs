//! What roles say to each other through durable queues: seed 001 §2.1's message, field names included. Plain data; whether
//! a message may enter a queue is decided where it enters one (`windlass_store::queue`). Where the seed gives taint a
//! default there is none here: a label that is missing means external.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::approval::ApprovalToken;
use crate::event::{Encoded, EventFamily, Unreadable, decode_payload};
use crate::id::{MessageId, TaskId, Tenant, TraceId};
use crate::taint::Taint;
use crate::time::Wall;

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $(#[serde(rename = $word)] $variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )+};
}

words! {
    Sender {
        User = "user",
        Proxy = "proxy",
        Planner = "planner",
        Executor = "executor",
        Runtime = "runtime",
    }

    MessageKind {
        UserMessage = "user_message",
        PlanRequest = "plan_request",
        PlanResult = "plan_result",
        ResearchRequest = "research_request",
        ResearchResult = "research_result",
        ExecutionStatusChange = "execution_status",
        ConsultPlanner = "consult_planner",
        PlannerGuidance = "planner_guidance",
        ReplanRequest = "replan_request",
        SystemEvent = "system_event",
    }

    ErrorCode {
        ToolFailure = "tool_failure",
        BudgetExceeded = "budget_exceeded",
        GateBlocked = "gate_blocked",
        ApprovalDenied = "approval_denied",
        VerificationFailed = "verification_failed",
        Timeout = "timeout",
    }

    ExecutionStatus {
        Running = "running",
        Done = "done",
        Failed = "failed",
        Stuck = "stuck",
        Blocked = "blocked",
        VerificationFailed = "verification_failed",
    }

    /// Whose fault an error was: a sender, but never the user.
    OriginAgent {
        Proxy = "proxy",
        Planner = "planner",
        Executor = "executor",
        Runtime = "runtime",
    }

    Urgency {
        Background = "background",
        Informational = "informational",
        NeedsAttention = "needs_attention",
    }
}

impl ExecutionStatus {
    /// Something went wrong, so the message must say what.
    pub const fn is_error(self) -> bool {
        match self {
            Self::Running | Self::Done => false,
            Self::Failed | Self::Stuck | Self::Blocked | Self::VerificationFailed => true,
        }
    }
}

impl Urgency {
    /// Its place in a queue: higher goes first.
    pub const fn priority(self) -> i32 {
        match self {
            Self::Background => -10,
            Self::Informational => 0,
            Self::NeedsAttention => 10,
        }
    }

    const fn when_unsaid() -> Self {
        Self::Informational
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusPayload {
    pub status: ExecutionStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_number: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_remaining_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_remaining_usd: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorPayload {
    pub error_code: ErrorCode,
    pub retryable: bool,
    pub origin_agent: OriginAgent,
    pub attempt_number: u32,
    pub detail: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum QueuePayload {
    Status(StatusPayload),
    Error(ErrorPayload),
    Other(Map<String, Value>),
}

/// What a research micro-task may use, and in which form its answer is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResearchConstraints {
    pub return_format: String,
    #[serde(default = "ResearchConstraints::usual_tokens")]
    pub max_tokens: u32,
    #[serde(default = "ResearchConstraints::usual_tools")]
    pub tools_allowed: Vec<String>,
}

impl ResearchConstraints {
    const fn usual_tokens() -> u32 {
        500
    }

    fn usual_tools() -> Vec<String> {
        ["web_search", "read_file", "memory_search"].map(str::to_owned).to_vec()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueueMessage {
    /// The same id twice is the same message once.
    pub message_id: MessageId,
    pub trace_id: TraceId,
    pub content: String,
    pub sender: Sender,
    pub message_kind: MessageKind,
    pub scope_id: Tenant,
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
    /// 001's work item, an atom here; this crate's graph gives it its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_item: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_markdown: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_token: Option<ApprovalToken>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<ResearchConstraints>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<QueuePayload>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_agent: Option<OriginAgent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_number: Option<u32>,
    #[serde(default = "Urgency::when_unsaid")]
    pub urgency: Urgency,
    /// Where alone it can be done, because what it needs is there; `None`: anywhere. Not the seed's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<String>,
    pub created_at: Wall,
}

impl QueueMessage {
    /// With everything left out that may be.
    pub fn new(
        message_id: MessageId,
        trace_id: TraceId,
        (sender, message_kind): (Sender, MessageKind),
        (scope_id, taint): (Tenant, Taint),
        content: impl Into<String>,
        created_at: Wall,
    ) -> Self {
        Self {
            message_id,
            trace_id,
            content: content.into(),
            sender,
            message_kind,
            scope_id,
            taint,
            task_id: None,
            parent_task_id: None,
            work_item: None,
            plan_markdown: None,
            approval_token: None,
            artifacts: None,
            constraints: None,
            payload: None,
            error_code: None,
            retryable: None,
            origin_agent: None,
            attempt_number: None,
            urgency: Urgency::Informational,
            placement: None,
            created_at,
        }
    }

    /// What follows from this message: the same trace, tenant and task, and no less tainted.
    #[must_use]
    pub fn followed_by(
        &self,
        message_id: MessageId,
        from: (Sender, MessageKind),
        content: impl Into<String>,
        created_at: Wall,
    ) -> Self {
        let whose = (self.scope_id.clone(), self.taint);
        let next = Self::new(message_id, self.trace_id, from, whose, content, created_at);
        Self { task_id: self.task_id, parent_task_id: self.parent_task_id, ..next }
    }
}

const KIND: &str = "queue.message";

impl EventFamily for QueueMessage {
    fn encode(&self) -> Encoded {
        let data = serde_json::value::to_raw_value(self).expect("messages are plain data");
        Encoded { kind: KIND, version: 1, data, since: 1, older: &[] }
    }

    fn decode(kind: &str, version: u16, data: &str) -> Result<Self, Unreadable> {
        match kind {
            KIND => decode_payload(kind, version, &[], data),
            _ => Err(Unreadable::Newer { kind: kind.to_owned(), version }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> QueueMessage {
        let (now, from) = (Wall::from_millis(7), (Sender::User, MessageKind::UserMessage));
        let whose = (Tenant::local(), Taint::Auth);
        QueueMessage::new(MessageId::new(now, 1), TraceId::new(now, 2), from, whose, "haul", now)
    }

    #[test]
    fn a_message_survives_being_stored() {
        let stored = message().encode();
        assert_eq!(QueueMessage::decode(stored.kind, stored.version, stored.data.get()).expect("readable"), message());
    }

    #[test]
    fn taint_that_is_missing_is_external_and_urgency_that_is_missing_informational() {
        let mut wire = serde_json::to_value(message()).expect("plain data");
        let fields = wire.as_object_mut().expect("an object");
        assert!(fields.remove("taint").is_some() && fields.remove("urgency").is_some());
        let read: QueueMessage = serde_json::from_value(wire).expect("both may be missing");
        assert_eq!((read.taint, read.urgency), (Taint::External, Urgency::Informational));
    }

    #[test]
    fn what_follows_has_the_same_trace_and_is_no_less_tainted() {
        let id = MessageId::new(Wall::from_millis(9), 3);
        let next = message().followed_by(id, (Sender::Proxy, MessageKind::PlanRequest), "plan", Wall::from_millis(9));
        assert_eq!((next.trace_id, next.taint, next.scope_id), (message().trace_id, Taint::Auth, Tenant::local()));
    }

    #[test]
    fn a_payload_is_read_as_what_it_is() {
        let status: QueuePayload = serde_json::from_str(r#"{"status":"stuck","attempt_number":2}"#).expect("readable");
        assert!(matches!(status, QueuePayload::Status(StatusPayload { status: ExecutionStatus::Stuck, .. })));
        let other: QueuePayload = serde_json::from_str(r#"{"status":"stuck","more":1}"#).expect("readable");
        assert!(matches!(other, QueuePayload::Other(_)));
    }
}
