//! What a pattern's document says, with the defaults of contracts §8.

use serde::{Deserialize, Serialize};

use super::condition::Condition;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    pub name: String,
    pub description: String,
    /// Who follows it.
    pub role: String,
    /// A word for people.
    pub phase: String,
    pub steps: Vec<Step>,
    /// How often the step may change.
    pub max_steps: u32,
    /// Said to whoever follows it, besides what every pattern's follower is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompt_fragments: Vec<String>,
    pub input_docs: Vec<InputDoc>,
    pub token_budget: TokenBudget,
    pub temperature: f64,
    pub max_output_tokens: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub name: String,
    /// What may be called in it; without any it is for thinking, and done when the next one begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// All of these; where nothing is said, that a call of one of its tools succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done_when: Vec<Condition>,
    /// Any of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skip_when: Vec<Condition>,
    /// Where to go when it has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_fail: Option<String>,
    /// How many calls it may take beyond the first.
    pub retries: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// What a model that decides one call at a time is given to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputDoc {
    pub path: String,
    pub optional: bool,
    pub max_tokens: u32,
    pub path_type: PathType,
}

/// Where a document stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathType {
    /// Beside the trace, made of the journal.
    Turn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBudget {
    pub total: u32,
    pub prompt: u32,
    pub input_docs: u32,
    pub output: u32,
    pub buffer: u32,
}

impl Default for TokenBudget {
    fn default() -> Self {
        Self { total: 3_500, prompt: 800, input_docs: 1_500, output: 500, buffer: 700 }
    }
}

impl TokenBudget {
    /// What its parts come to, which is never more than the total.
    pub const fn parts(&self) -> u64 {
        self.prompt as u64 + self.input_docs as u64 + self.output as u64 + self.buffer as u64
    }
}

impl Pattern {
    pub const CONTEXT: &'static str = "context.md";
    pub const GENERIC: &'static str = "generic";
    pub const MAX_STEPS: u32 = 5;
    pub const TEMPERATURE: f64 = 0.3;
    pub const MAX_OUTPUT_TOKENS: u32 = 500;
    /// Contracts §8 has no figure for this one.
    pub const RETRIES: u32 = 2;

    /// Whether there is anything to keep to.
    pub fn leads(&self) -> bool {
        self.steps.iter().any(|step| !step.tools.is_empty() || !step.done_when.is_empty())
    }

    pub fn place_of(&self, step: &str) -> Option<usize> {
        self.steps.iter().position(|known| known.name == step)
    }

    /// The first step that must be done and cannot, because none of its tools is there.
    pub fn out_of_reach(&self, has: impl Fn(&str) -> bool) -> Option<&Step> {
        let cannot = |step: &&Step| !step.tools.is_empty() && !step.tools.iter().any(|tool| has(tool));
        self.steps.iter().filter(|step| !step.optional && step.skip_when.is_empty()).find(cannot)
    }

    /// The files that its conditions speak of.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let conditions = self.steps.iter().flat_map(|step| step.done_when.iter().chain(&step.skip_when));
        conditions.filter_map(|condition| match condition {
            Condition::FileExists(path) => Some(path.as_str()),
            _ => None,
        })
    }
}

impl Step {
    /// Done by going on.
    pub fn is_for_thinking(&self) -> bool {
        self.tools.is_empty() && self.done_when.is_empty()
    }

    pub fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|known| known == tool)
    }
}
