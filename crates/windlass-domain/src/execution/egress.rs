//! A host that commands asked for and did not get: the proxy's word, kept for people. The first time is recorded as it happens,
//! and how often it was in all when the execution rests.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EgressRefused {
    /// As it was asked for.
    pub host: String,
    pub port: u16,
    pub reason: String,
    /// So far.
    pub times: u64,
}
