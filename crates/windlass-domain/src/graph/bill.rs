//! What work has used, in tokens, money and time, so that it can be added up.

use serde::{Deserialize, Serialize};

use crate::usage::{UsageMetrics, Usd};

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    pub usage: UsageMetrics,
    pub cost: Usd,
    /// There were calls whose price nobody knew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
}

impl Bill {
    pub fn add(&mut self, other: Self) {
        self.usage += other.usage;
        self.cost += other.cost;
        self.unpriced |= other.unpriced;
    }
}
