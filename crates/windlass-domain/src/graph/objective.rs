//! What a person and Windlass agreed on (seed 004, contracts §7): a goal, and when a machine says that it is reached.

use serde::{Deserialize, Serialize};

use super::constraints::Constraints;
use crate::check::BaseCase;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    pub goal: String,
    /// When these pass, it is over, whatever else was planned.
    pub base_case: BaseCase,
    /// Why it is done, what comes of it, and when a person would call it done.
    pub background_intent: String,
    pub deliverables: String,
    pub definition_of_done: String,
    #[serde(default)]
    pub constraints: Constraints,
    /// Whatever else the person wrote down about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}
