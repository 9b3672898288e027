//! What the outside tells about an execution that it carries itself: a foreign agent's own words and deeds. Whatever the channel (an
//! event of the program, a marker it printed, a tool it called, its terminal), it arrives here in one form, is known by an id of
//! its own, and is decided on once. Nothing here is believed: a claim changes nothing before checks confirm it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::claim::{LONGEST_LISTED, MOST_CHOICES};
use crate::taint::Taint;
use crate::usage::{Usage, Usd};

/// Of one text of a foreign agent's, so many bytes are kept. What is longer is a blob's business, or nobody's.
pub const MOST_OBSERVED: usize = 64 << 10;

/// Something that was told, before it is decided on.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// Names it within its execution: told twice, it counts once.
    pub event_id: String,
    pub source: Source,
    pub observation: Observation,
}

/// How it reached us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The program's own structured channel.
    Provider,
    /// A line that the agent printed on purpose.
    Marker,
    /// A tool of ours that it called.
    Mcp,
    /// Read off its screen, where it is no marker. Nothing is made of such reading: the name is kept for journals (contracts §6).
    Terminal,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "observed", rename_all = "snake_case")]
pub enum Observation {
    /// The program's own name for the conversation, by which it can be gone on with.
    Session {
        session_id: String,
    },
    /// Something the agent said, whole.
    Said {
        text: String,
    },
    /// A tool of its own is at work.
    Called {
        call: String,
        tool: String,
        input: Value,
    },
    CallEnded {
        call: String,
        is_error: bool,
        output: String,
    },
    /// The agent has stopped and waits for the next message.
    TurnEnded {
        end: TurnEnd,
    },
    /// What the program says it has used. Metering is ours, so that this is only compared.
    Used {
        usage: Usage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Usd>,
    },
    Claimed(Claim),
    /// It has asked our MCP server for its tools, and has them.
    Equipped,
    /// Something that people may want to know: a retry, a warning, a line that could not be read.
    Noticed {
        text: String,
    },
    /// A marker that is none of this launch's: malformed, too long, somebody else's, or told before.
    Unheeded {
        text: String,
    },
    /// There is reason not to take the program's word for what it says it does.
    Doubted {
        doubt: Doubt,
        why: String,
    },
}

/// What of a program is not what Windlass was tried with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// Its version: what it says is believed for as long as it is understood.
    Version,
    /// Its structured channel, which says what is not understood: it is not read again, and the agent works on its own screen.
    Channel,
}

/// How an agent's turn ended, as its program says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnEnd {
    Completed { message: String },
    Interrupted,
    Failed { reason: String, why: Failure },
}

/// What kind of failure a program reports, as far as it can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The model could not be reached or would not answer now.
    Model,
    /// The model's server refuses who asks.
    Login,
    /// The program gave up by itself.
    Agent,
}

/// Contracts §6: what an agent may tell its owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub kind: ClaimKind,
    #[serde(default)]
    pub payload: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    Progress,
    NeedsInput,
    Blocked,
    ReadyForVerification,
    CompletedClaim,
    FailedClaim,
    Note,
}

impl ClaimKind {
    pub const ALL: [Self; 7] = [
        Self::Progress,
        Self::NeedsInput,
        Self::Blocked,
        Self::ReadyForVerification,
        Self::CompletedClaim,
        Self::FailedClaim,
        Self::Note,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Progress => "progress",
            Self::NeedsInput => "needs_input",
            Self::Blocked => "blocked",
            Self::ReadyForVerification => "ready_for_verification",
            Self::CompletedClaim => "completed_claim",
            Self::FailedClaim => "failed_claim",
            Self::Note => "note",
        }
    }
}

impl Claim {
    /// Its words, where it has some.
    pub fn words(&self) -> Option<&str> {
        let otherwise = ["message", "question", "reason", "summary", "text"];
        match &self.payload {
            Value::String(words) => Some(words),
            payload => {
                let mut named = std::iter::once(self.kind.words_in()).chain(otherwise);
                named.find_map(|name| payload.get(name)?.as_str())
            }
        }
    }

    /// What to choose from, where it offers something: a line each, as a person is shown it.
    pub fn choices(&self) -> Vec<String> {
        let offered = self.payload.get("choices").and_then(Value::as_array).into_iter().flatten();
        let plain = |choice: &str| choice.split_whitespace().collect::<Vec<_>>().join(" ");
        let choices = offered.filter_map(Value::as_str).map(plain).filter(|choice| !choice.is_empty());
        choices.take(MOST_CHOICES).map(|choice| choice.chars().take(LONGEST_LISTED).collect()).collect()
    }
}

/// An observation in the journal, with what was made of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservationRecorded {
    pub event_id: String,
    pub source: Source,
    #[serde(flatten)]
    pub observation: Observation,
    pub decision: ObservationDecision,
    pub reason: String,
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservationDecision {
    Accepted,
    RecordedOnly,
    Rejected,
    NeedsVerification,
}

impl Observation {
    /// Whether the agent itself has spoken or acted.
    pub const fn is_of_the_agent(&self) -> bool {
        matches!(self, Self::Said { .. } | Self::Called { .. } | Self::CallEnded { .. } | Self::Claimed(_))
    }

    /// What is made of it, and why. The same for every source.
    pub const fn decided(&self) -> (ObservationDecision, &'static str) {
        use ObservationDecision::{Accepted, NeedsVerification, RecordedOnly, Rejected};
        match self {
            Self::Session { .. } => (Accepted, "the conversation can be gone on with by this name"),
            Self::TurnEnded { .. } => (Accepted, "the agent waits"),
            Self::Said { .. } | Self::Called { .. } | Self::CallEnded { .. } => {
                (RecordedOnly, "it is for people to read")
            }
            Self::Used { .. } => (RecordedOnly, "what counts is metered on the way to the model"),
            Self::Equipped => (RecordedOnly, "it was seen at our own end"),
            Self::Noticed { .. } => (RecordedOnly, "it changes nothing"),
            Self::Unheeded { .. } => (Rejected, "whatever it says is not heeded"),
            Self::Doubted { doubt: Doubt::Version, .. } => {
                (RecordedOnly, "it is believed for as long as it is understood")
            }
            Self::Doubted { doubt: Doubt::Channel, .. } => (Accepted, "the agent works on its own screen from now on"),
            Self::Claimed(claim) => match claim.kind {
                ClaimKind::ReadyForVerification | ClaimKind::CompletedClaim => (NeedsVerification, "checks decide"),
                ClaimKind::FailedClaim => (Accepted, "the agent gives up; the checks run once"),
                ClaimKind::NeedsInput | ClaimKind::Blocked => (Accepted, "somebody has to look"),
                ClaimKind::Progress | ClaimKind::Note => (RecordedOnly, "it is for people to read"),
            },
        }
    }
}
