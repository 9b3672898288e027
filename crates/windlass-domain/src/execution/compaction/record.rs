//! The records of a compaction, and what a model is asked for.

use serde::{Deserialize, Serialize};

use crate::message::CallId;

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The next turn of the conversation.
    #[default]
    Turn,
    /// A summary of these messages of the transcript. It is no turn: nobody hears it but the compaction.
    Summary { from: usize, to: usize },
}

impl Purpose {
    pub const fn is_turn(&self) -> bool {
        matches!(self, Self::Turn)
    }
}

/// A step of a compaction, as the runner took it.
#[derive(Debug, Clone, PartialEq)]
pub enum Compaction {
    Start { reason: CompactionReason, tokens_before: u64 },
    Clear(CompactionCleared),
    Flush(CompactionFlushing),
    EndFlush(CompactionFlushed),
    Skip(CompactionSkipped),
    Finish { tokens_after: u64, rewritten: Option<Rewritten> },
    Fail { tokens_after: u64, reason: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionStarted {
    /// From 1.
    pub cycle: u32,
    pub reason: CompactionReason,
    pub tokens_before: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionReason {
    /// By our own count.
    Threshold,
    /// The provider refused the conversation as too long.
    Overflow,
}

/// Tool results that the model no longer sees; each is replaced by a reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionCleared {
    pub extent: Extent,
    pub results: Vec<Cleared>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Those before the recent turns.
    Old,
    /// The recent ones too: everything else was too little.
    All,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleared {
    pub call_id: CallId,
    /// What stands in its place: what was there, and how to get it again.
    pub reference: String,
    /// The file of the workspace that holds it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_to: Option<String>,
}

/// The agent is told to save what it will need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionFlushing {
    pub message: String,
}

/// It had its turns for that. What it was told and the turns that only saved leave the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionFlushed {
    pub files_written: u32,
}

/// Messages that no summary could be had of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionSkipped {
    pub to: usize,
    /// Stands where the summary would.
    pub note: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionFinished {
    pub cycle: u32,
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// Missing where references alone made room enough, so that nothing was summarised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<Rewritten>,
}

/// The conversation from here on: the message that opened it, `summary` and `kept` as one message, and what stood from
/// `keep_from` on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewritten {
    pub keep_from: usize,
    /// In a model's words.
    pub summary: String,
    /// Word for word: what people said, the plan, open questions, files, errors.
    pub kept: String,
}

/// Nothing more can be left out, and it does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionFailed {
    pub cycle: u32,
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// What takes the room, for people.
    pub reason: String,
}
