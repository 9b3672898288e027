//! An item of a plan, field for field with its defaults, and the words that brief whoever works on it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::words::{AtomId, Escalation, InteractionMode, OnFailure, OnStuck, Schedule, Trouble};
use crate::budget::Budget;
use crate::check::BaseCase;
use crate::usage::Usd;

/// One document: an item and all that it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plan(pub Item);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    pub id: AtomId,
    #[serde(rename = "type")]
    pub kind: ItemKind,
    pub title: String,
    pub tasks: Vec<Item>,
    /// By id, or by the name of a group of choices.
    pub depends_on: Vec<AtomId>,
    /// The group of choices that it is one of.
    pub any_of: Option<AtomId>,
    pub speculative: bool,
    pub needs_approval: bool,
    pub agent: String,
    pub skills: Vec<String>,
    pub pattern: String,
    pub probe: bool,
    pub interaction_mode: InteractionMode,
    pub budget: Budget,
    pub plan_budget: PlanBudget,
    pub verify: BaseCase,
    /// As they were written; what they mean is the law's to say.
    pub gates: Vec<Value>,
    pub touches: Touches,
    pub input_artifacts_from: Vec<AtomId>,
    pub follow_up_of: Option<String>,
    pub continuation_of: Option<String>,
    pub on_stuck: OnStuck,
    pub on_failure: OnFailure,
    pub escalation: BTreeMap<Trouble, Escalation>,
    pub schedule: Option<Schedule>,
    /// Whose clocks the schedule goes by, as the IANA names them; UTC without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    pub failure_context: Option<String>,
    pub briefing: Briefing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    Task,
    Project,
    Goal,
}

/// For the planner, consults and new plans; apart from what the work itself may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanBudget {
    pub max_tokens: u64,
    pub max_cost_usd: Usd,
}

impl Default for PlanBudget {
    fn default() -> Self {
        Self { max_tokens: 100_000, max_cost_usd: Usd::from_nanos(1_000_000_000) }
    }
}

/// What it says it will change, so that two that change the same do not run at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touches {
    pub paths: Vec<String>,
    pub services: Vec<String>,
}

/// The body of the document, heading by heading. What a child has no words of its own for is its parent's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Briefing {
    pub context: String,
    pub what_to_do: String,
    pub constraints: String,
    pub if_you_get_stuck: String,
}

impl Item {
    /// It and everything in it, parents first.
    pub fn all(&self) -> Vec<&Self> {
        let mut found = vec![self];
        let mut next = 0;
        while let Some(item) = found.get(next).copied() {
            found.extend(&item.tasks);
            next += 1;
        }
        found
    }
}
