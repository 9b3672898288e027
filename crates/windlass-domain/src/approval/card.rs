//! The card: what a person is asked, in contracts §3's words, and what an answer to it would bind. What it says is exactly
//! what will happen, and it is good until `expires_at`. How a card is drawn is for whoever shows it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approval::{ApprovalScope, CardId, Strength, WorstCase};
use crate::digest::Digest;
use crate::id::Tenant;
use crate::time::Wall;

/// How long a card waits for its answer, unless told otherwise.
pub const DEFAULT_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    pub card_id: CardId,
    /// What is wanted, in one sentence.
    pub intent: String,
    pub risk_level: RiskLevel,
    /// Why it is wanted.
    pub rationale: String,
    /// What happens if the answer is yes, in a few words.
    pub consequence_label: String,
    pub affected_items: Vec<String>,
    /// Everything that will run, byte for byte.
    pub details: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_case: Option<WorstCase>,
    pub expires_at: Wall,
    pub binds: Binding,
}

/// A card's own scale. A risk of "critical" never becomes a card: it is blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskLevel {
    Low,
    Medium,
    High,
    /// It cannot be undone.
    Irreversible,
}

impl RiskLevel {
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Irreversible];

    /// High and irreversible ask for a second step.
    pub const fn least_strength(self) -> Strength {
        match self {
            Self::Low | Self::Medium => Strength::Implied,
            Self::High | Self::Irreversible => Strength::Confirmed,
        }
    }
}

/// What a yes would cover, and nothing else: at least one of the three hashes is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    pub tenant: Tenant,
    pub work_item_id: String,
    pub scope: ApprovalScope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_hash: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding_hash: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spawn_policy_hash: Option<Digest>,
    pub max_executions: u32,
}

impl Binding {
    pub const fn binds_something(&self) -> bool {
        self.plan_hash.is_some() || self.binding_hash.is_some() || self.spawn_policy_hash.is_some()
    }

    /// A single tool call is performed once; a plan is entered again after a crash.
    pub const fn is_one_call(&self) -> bool {
        self.binding_hash.is_some()
    }
}
