//! How risky a call is (seed 000 §11.1), and what was made of that. The rules that judge are `windlass-policy`'s; here are
//! the words in which their verdict is kept.

use serde::{Deserialize, Serialize};

use crate::approval::RiskLevel;

/// Low: allow. Medium: allow and log. High: ask. Critical: refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Low,
    Medium,
    High,
    Critical,
}

impl Level {
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// As a card shows it; what is critical is refused and never asked.
    pub const fn on_card(self) -> Option<RiskLevel> {
        match self {
            Self::Low => Some(RiskLevel::Low),
            Self::Medium => Some(RiskLevel::Medium),
            Self::High => Some(RiskLevel::High),
            Self::Critical => None,
        }
    }
}

/// What the rules make of something; a later one is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    Continue,
    RequireApproval,
    Block,
}

/// What one gate said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateSaid {
    pub gate: String,
    pub ruling: Ruling,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}
