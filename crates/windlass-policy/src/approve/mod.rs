//! Approvals as cryptography: what a person saw becomes a hash (`plan_hash`, `binding_hash`, `spawn_policy_hash`), the
//! answer becomes a signed token (`issue`), and a token is worth something only where `verify` or `check` says so. Whether a
//! card was asked and answered, and how often a token was used, is the approval's stream (`windlass_domain::approval`).

mod binding_hash;
mod canonical;
mod coverage;
mod issue;
mod key;
mod plan_hash;
mod planned_hash;
mod refusal;
mod token;
mod verify;

pub use binding_hash::{CallSeen, binding_hash};
pub use canonical::{Unhashable, canonical_json};
pub use coverage::{Leave, Listed, Need, Reaches, need};
pub use issue::{Order, issue};
pub use key::{BadKey, OwnerKey, PublicKeys, Purpose};
pub use plan_hash::{
    Escalation, PlanBudget, PlanSeen, PlanType, SpawnPolicySeen, Touches, plan_hash, spawn_policy_hash,
};
pub use planned_hash::{PlannedSeen, planned_hash};
pub use refusal::Refusal;
pub use token::{MAX_TOKEN_BYTES, read_token, write_token};
pub use verify::{CLOCK_SKEW, Subject, check, verify};
