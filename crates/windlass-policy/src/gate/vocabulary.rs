//! The words of a gate file, as contracts §4 has them.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    EveryUserMessage,
    OnToolCall,
    AfterStep,
    EveryAgentResponse,
}

impl Trigger {
    pub const ALL: [Self; 4] = [Self::EveryUserMessage, Self::OnToolCall, Self::AfterStep, Self::EveryAgentResponse];

    /// What there is to look at here; a rule's field begins with one of these.
    pub const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::EveryUserMessage => &["message", "taint"],
            Self::OnToolCall => &["tool", "tool_args"],
            Self::AfterStep => &["tool", "step"],
            Self::EveryAgentResponse => &["response"],
        }
    }

    /// The one thing that a gate may rewrite here.
    pub const fn rewritable(self) -> Option<&'static str> {
        match self {
            Self::EveryUserMessage => Some("message"),
            Self::OnToolCall => Some("tool_args"),
            Self::EveryAgentResponse => Some("response"),
            Self::AfterStep => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateType {
    NumericRange,
    StringMatch,
    Regex,
    FileValid,
    ApprovalAlways,
    CustomCheck,
    Taint,
    Risk,
}

impl GateType {
    /// Gates that must see what will really happen, and so come after every rewrite.
    pub const fn looks_last(self) -> bool {
        matches!(self, Self::ApprovalAlways | Self::Taint | Self::Risk)
    }
}

/// Who answers. A provider that is not known is kept by its name, and blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provider {
    Predicate,
    Script,
    Llm,
    Unknown(String),
}

impl Provider {
    pub fn named(name: &str) -> Self {
        match name {
            "predicate" => Self::Predicate,
            "script" => Self::Script,
            "llm" => Self::Llm,
            other => Self::Unknown(other.to_owned()),
        }
    }

    pub const fn lane(&self) -> Lane {
        match self {
            Self::Predicate | Self::Script | Self::Unknown(_) => Lane::Policy,
            Self::Llm => Lane::Quality,
        }
    }
}

/// The policy lane may continue, block or ask; the quality lane only scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    Policy,
    Quality,
}

/// What happens when the gate blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escalation {
    #[default]
    Report,
    Respond,
    EscalateHuman,
    TransferToQueue,
    SuppressAndRephrase,
    SuppressAndEscalate,
    SpawnTask,
    Retry,
}

impl Escalation {
    /// Whether it runs something again, which spends an attempt.
    pub const fn spends_an_attempt(self) -> bool {
        matches!(self, Self::SuppressAndRephrase | Self::SpawnTask | Self::Retry)
    }
}
