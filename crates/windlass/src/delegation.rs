//! How far agents may hand work on: `[subagents]` in `windlass.toml`, and seed 000 §17.1's variables, which come first.

use serde::Deserialize;
use windlass_domain::Delegation;

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SubagentConfig {
    pub max_depth: Option<u32>,
    pub default_timeout_seconds: Option<u64>,
    pub max_parallel: Option<usize>,
}

impl SubagentConfig {
    pub fn or(self, other: Self) -> Self {
        Self {
            max_depth: self.max_depth.or(other.max_depth),
            default_timeout_seconds: self.default_timeout_seconds.or(other.default_timeout_seconds),
            max_parallel: self.max_parallel.or(other.max_parallel),
        }
    }

    pub fn objection(self) -> Option<&'static str> {
        match self {
            Self { default_timeout_seconds: Some(0), .. } => Some("a sub-agent needs at least 1 second"),
            Self { max_parallel: Some(0), .. } => Some("`max_parallel` must be at least 1"),
            _ => None,
        }
    }

    pub fn delegation(self) -> Delegation {
        let default = Delegation::default();
        Delegation {
            max_depth: self.max_depth.unwrap_or(default.max_depth),
            default_timeout_seconds: self.default_timeout_seconds.unwrap_or(default.default_timeout_seconds),
            max_parallel: self.max_parallel.unwrap_or(default.max_parallel),
        }
    }
}
