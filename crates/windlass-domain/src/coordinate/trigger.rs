//! Seed 000 §3.6: the six things that reach a session from outside. Each has an id of its own, and is heeded once however often it is
//! delivered. None of them asks a model but what a user says without saying to whom, which is routed (`RouteDecision`).

use serde::{Deserialize, Serialize};

use super::Origin;
use crate::caller::CallerName;
use crate::execution::AgentInjection;

#[derive(Debug, Clone)]
pub struct Trigger {
    /// Of its kind and tenant: the same twice is one.
    pub trigger_id: CallerName,
    pub origin: Origin,
    /// Where it is not said, the task's own.
    pub session_id: Option<CallerName>,
    pub what: Triggered,
}

#[derive(Debug, Clone)]
pub enum Triggered {
    /// To a task where one is named, otherwise to whom the router finds.
    UserMessage {
        words: String,
        task_id: Option<CallerName>,
    },
    /// Who asked and got an answer: a question of an agent's, or a card.
    HitlResponse {
        request_id: String,
        response: String,
    },
    /// To a task, or to all that are under way in the session.
    ExternalEvent {
        payload: String,
        task_id: Option<CallerName>,
    },
    TaskControl {
        task_id: CallerName,
        steering: Steering,
        reason: String,
    },
    /// The time has come to look at something.
    Scheduled {
        task_id: CallerName,
        prompt: String,
    },
    /// What another program put into a task's list of injections.
    Injected {
        task_id: CallerName,
        injection: AgentInjection,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steering {
    Pause,
    Resume,
    Cancel,
}

/// As the seed names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TriggerType {
    UserMessageReceived,
    TaskResultReceived,
    HitlResponseReceived,
    ScheduledTrigger,
    ExternalEventReceived,
    TaskControlReceived,
}

impl Triggered {
    pub const fn kind(&self) -> TriggerType {
        match self {
            Self::UserMessage { .. } => TriggerType::UserMessageReceived,
            Self::HitlResponse { .. } => TriggerType::HitlResponseReceived,
            Self::ExternalEvent { .. } | Self::Injected { .. } => TriggerType::ExternalEventReceived,
            Self::TaskControl { .. } => TriggerType::TaskControlReceived,
            Self::Scheduled { .. } => TriggerType::ScheduledTrigger,
        }
    }
}

impl TriggerType {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UserMessageReceived => "user-message-received",
            Self::TaskResultReceived => "task-result-received",
            Self::HitlResponseReceived => "hitl-response-received",
            Self::ScheduledTrigger => "scheduled-trigger",
            Self::ExternalEventReceived => "external-event-received",
            Self::TaskControlReceived => "task-control-received",
        }
    }
}
