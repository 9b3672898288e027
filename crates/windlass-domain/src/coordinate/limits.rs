//! Seed 000 §3.5: how much goes on at once. A session is under way while one of its tasks is not over.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConcurrencyConfig {
    /// One more waits until one of them is over.
    pub max_concurrent_tasks_per_session: u32,
    /// A task in one more is refused.
    pub max_concurrent_sessions_per_user: u32,
    /// How long a front door may hold a session before another goes on with it.
    pub session_lease_ttl_ms: u64,
}

impl Default for ConcurrencyConfig {
    fn default() -> Self {
        Self { max_concurrent_tasks_per_session: 3, max_concurrent_sessions_per_user: 5, session_lease_ttl_ms: 30_000 }
    }
}

impl ConcurrencyConfig {
    /// What cannot work, in words.
    pub fn objection(&self) -> Option<String> {
        let bounds = [
            ("max_concurrent_tasks_per_session", u64::from(self.max_concurrent_tasks_per_session), 1, 10_000),
            ("max_concurrent_sessions_per_user", u64::from(self.max_concurrent_sessions_per_user), 1, 10_000),
            ("session_lease_ttl_ms", self.session_lease_ttl_ms, 100, 3_600_000),
        ];
        let (name, _, least, most) =
            bounds.into_iter().find(|(_, given, least, most)| !(*least..=*most).contains(given))?;
        Some(format!("{name} must be between {least} and {most}"))
    }
}
