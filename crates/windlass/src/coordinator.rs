//! How much goes on at once in conversations: `[coordinator]` in `windlass.toml`, and seed 000 §17.1's variables, which come first.

use serde::Deserialize;
use windlass_domain::coordinate::ConcurrencyConfig;

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CoordinatorConfig {
    pub max_concurrent_tasks_per_session: Option<u32>,
    pub max_concurrent_sessions_per_user: Option<u32>,
    pub session_lease_ttl_ms: Option<u64>,
}

impl CoordinatorConfig {
    pub fn or(self, other: Self) -> Self {
        Self {
            max_concurrent_tasks_per_session: self
                .max_concurrent_tasks_per_session
                .or(other.max_concurrent_tasks_per_session),
            max_concurrent_sessions_per_user: self
                .max_concurrent_sessions_per_user
                .or(other.max_concurrent_sessions_per_user),
            session_lease_ttl_ms: self.session_lease_ttl_ms.or(other.session_lease_ttl_ms),
        }
    }

    pub fn concurrency(self) -> ConcurrencyConfig {
        let default = ConcurrencyConfig::default();
        ConcurrencyConfig {
            max_concurrent_tasks_per_session: self
                .max_concurrent_tasks_per_session
                .unwrap_or(default.max_concurrent_tasks_per_session),
            max_concurrent_sessions_per_user: self
                .max_concurrent_sessions_per_user
                .unwrap_or(default.max_concurrent_sessions_per_user),
            session_lease_ttl_ms: self.session_lease_ttl_ms.unwrap_or(default.session_lease_ttl_ms),
        }
    }
}
