//! Whose part a task is. Everything that works for a planned task is a task of its own; here it says for whom, and as what.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::TaskId;
use crate::plan::{AtomId, Handling, OnStuck};
use crate::research::ResearchKey;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartOf {
    /// Whom its end is told: the planned task, or the part that asked for it.
    pub task: TaskId,
    /// The planned task.
    pub root: TaskId,
    pub part: Part,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Part {
    /// It works on an item of the plan.
    Atom {
        atom: AtomId,
        on_stuck: OnStuck,
        /// Those that the plan sets for it, as they were written there.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gates: Vec<Value>,
        #[serde(default, skip_serializing_if = "Handling::is_usual")]
        handling: Handling,
        /// The kind of work, where it is more than generic.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
    },
    /// It writes a revision of the plan.
    Plan {
        revision: u32,
        /// It finds out with the user what is wanted, too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        aligns: bool,
    },
    /// It looks into a question of a planner's.
    Research { key: ResearchKey },
    /// It says what to do about an attempt that failed.
    Guidance { attempt: u32 },
    /// It looks whether an item can be done.
    Probe { atom: AtomId },
    /// It looks for smaller parts of an item.
    Split { atom: AtomId },
    /// It turns what a person said into a change of the objective.
    Correction {},
}

impl Part {
    /// Whether what it makes becomes part of the work.
    pub const fn is_atom(&self) -> bool {
        matches!(self, Self::Atom { .. })
    }

    /// Of an item, what its plan says.
    pub const fn handling(&self) -> Option<&Handling> {
        match self {
            Self::Atom { handling, .. } => Some(handling),
            _ => None,
        }
    }

    pub fn gates(&self) -> &[Value] {
        match self {
            Self::Atom { gates, .. } => gates,
            Self::Plan { .. }
            | Self::Research { .. }
            | Self::Guidance { .. }
            | Self::Probe { .. }
            | Self::Split { .. }
            | Self::Correction {} => &[],
        }
    }
}
