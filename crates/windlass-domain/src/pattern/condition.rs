//! The conditions of a step: a small closed language that a machine decides. Each is about the step's newest call, about calls that
//! succeeded, or about what is around.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The newest call of the step succeeded.
    Ok,
    /// The newest call of the step failed.
    Error,
    /// What the newest call of the step said has this in it.
    OutputContains(String),
    /// What the newest call of the step was given has this in it.
    ArgumentsContain(String),
    /// A call of one of these tools succeeded: in the step, or, where it is about skipping it, before.
    Called(Vec<String>),
    FileExists(String),
    /// The task came with it.
    Given(Material),
}

/// What a task may come with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Material {
    Attachments,
    /// What items that it depends on came to.
    Bindings,
    /// What a planner said of earlier attempts.
    Guidance,
    Memories,
}

impl Material {
    pub const WORDS: &'static [&'static str] = &["attachments", "bindings", "guidance", "memories"];

    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "attachments" => Self::Attachments,
            "bindings" => Self::Bindings,
            "guidance" => Self::Guidance,
            "memories" => Self::Memories,
            _ => return None,
        })
    }
}

/// What is not in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Around {
    /// Of the files that the pattern asks for, those that are there.
    pub files: BTreeSet<String>,
    pub given: BTreeSet<Material>,
}

/// A call as conditions see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    pub is_ok: bool,
    pub arguments: &'a str,
    pub output: &'a str,
}

impl Condition {
    /// What the newest call decides; nothing where it is about something else.
    pub(super) fn of_call(&self, seen: &Seen<'_>) -> Option<bool> {
        match self {
            Self::Ok => Some(seen.is_ok),
            Self::Error => Some(!seen.is_ok),
            Self::OutputContains(text) => Some(seen.output.contains(text)),
            Self::ArgumentsContain(text) => Some(seen.arguments.contains(text)),
            Self::Called(_) | Self::FileExists(_) | Self::Given(_) => None,
        }
    }

    /// What these calls that succeeded, and what is around, decide.
    pub(super) fn of_rest(&self, succeeded: &BTreeSet<String>, around: &Around) -> bool {
        match self {
            Self::Called(tools) => tools.iter().any(|tool| succeeded.contains(tool)),
            Self::FileExists(path) => around.files.contains(path),
            Self::Given(material) => around.given.contains(material),
            Self::Ok | Self::Error | Self::OutputContains(_) | Self::ArgumentsContain(_) => false,
        }
    }
}
