//! The journal's records of a pattern: that the step changed, and that the agent was told to keep to it.

use serde::{Deserialize, Serialize};

/// The step changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatternStepped {
    pub from: String,
    /// The step that begins; none where the pattern is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    pub why: Why,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<PlaceEnd>,
    /// From 1.
    pub transition: u32,
    /// What the agent is told; nothing where it reads where it stands.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Why a step is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    Done,
    /// What it is for was there already.
    Skipped,
    /// The agent went on to a later one, as it may.
    Passed,
    /// All its calls are used up.
    Failed,
}

impl Why {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Passed => "passed",
            Self::Failed => "failed",
        }
    }
}

/// How a pattern is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceEnd {
    Complete,
    /// A step that must be done has failed, and nothing says where to go.
    Stuck,
    /// `max_steps` is reached.
    Exhausted,
}

impl PlaceEnd {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Stuck => "stuck",
            Self::Exhausted => "exhausted",
        }
    }
}

/// The agent was told to keep to the pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatternNudged {
    #[serde(flatten)]
    pub hint: Hint,
    pub message: String,
}

/// What it was told about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "hint", rename_all = "snake_case")]
pub enum Hint {
    /// A call repeated a finished step; the next one is refused.
    Repeats { step: String, tool: String },
    /// It said that it was done before this step was.
    TooEarly { step: String },
}
