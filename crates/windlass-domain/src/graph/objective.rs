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

/// A title that fits into a line.
const LONGEST_TITLE: usize = 200;

impl Objective {
    /// The first line of its goal.
    pub fn title(&self) -> String {
        self.goal.lines().next().unwrap_or_default().chars().take(LONGEST_TITLE).collect()
    }

    /// What everybody who works on any of it is told of the whole.
    pub fn context(&self) -> String {
        let parts = [
            ("The goal of the whole", &self.goal),
            ("Why", &self.background_intent),
            ("What comes of it", &self.deliverables),
            ("It is done when", &self.definition_of_done),
            ("Besides", &self.words),
        ];
        let said = parts.into_iter().filter(|(_, words)| !words.is_empty());
        said.map(|(name, words)| format!("{name}: {words}")).collect::<Vec<_>>().join("\n\n")
    }
}
