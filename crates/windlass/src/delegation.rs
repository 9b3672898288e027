//! How far agents may hand work on: seed 000 §17.1's variables, and `[subagents]` in `windlass.toml`.

use serde::Deserialize;
use windlass_domain::Delegation;

/// `[subagents]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SubagentConfig {
    pub max_parallel: Option<usize>,
}

impl SubagentConfig {
    pub fn objection(&self) -> Option<String> {
        (self.max_parallel == Some(0)).then(|| "`max_parallel` must be at least 1".to_owned())
    }

    pub fn delegation(&self, max_depth: Option<u32>, timeout_seconds: Option<u64>) -> Delegation {
        let default = Delegation::default();
        Delegation {
            max_depth: max_depth.unwrap_or(default.max_depth),
            default_timeout_seconds: timeout_seconds.unwrap_or(default.default_timeout_seconds).max(1),
            max_parallel: self.max_parallel.unwrap_or(default.max_parallel),
        }
    }
}
