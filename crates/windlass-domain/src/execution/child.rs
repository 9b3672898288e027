//! Agents that an agent spawns (seed 000 §9). Each has a journal of its own; here is what its parent's says of it: that it began,
//! and what it used and left behind. A child is named by its parent and the call that spawned it, so that after a crash the
//! same call finds the same child.

use serde::{Deserialize, Serialize};

use crate::call::Probe;
use crate::id::ExecutionId;
use crate::labels::Labels;
use crate::message::CallId;
use crate::result::Deliverable;
use crate::scope::Role;
use crate::taint::Taint;
use crate::usage::{Usage, Usd};

/// More agents than this no execution spawns.
pub const MOST_CHILDREN: usize = 100;

/// Whose child an execution is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    pub execution_id: ExecutionId,
    /// Of an agent that was spawned; a judge has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentSpawned {
    pub call_id: CallId,
    pub execution_id: ExecutionId,
    pub label: String,
}

/// Another execution, on the lease and the budget of this one, has ended. Its journal tells how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubagentFinished {
    pub execution_id: ExecutionId,
    pub role: Role,
    /// Charged here too: what an execution uses includes its children's.
    pub usage: Usage,
    pub cost: Usd,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Of an agent that was spawned; a judge has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ChildStatus>,
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Box<ChildLeft>>,
}

/// What a child leaves behind besides its words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildLeft {
    /// Of all that it read, and hence of what it says.
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
    /// Of the workspace's files, as it knew them.
    #[serde(default)]
    pub labels: Labels,
    /// The file that its words go to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrote: Option<String>,
    /// How that file is changed, after this record: whoever goes on can tell whether it was. Of before there was this, it was
    /// changed already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Box<Probe>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliverables: Vec<Deliverable>,
    /// Calls of which nobody knows whether they took effect, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupted: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
    /// How many agents it spawned itself, and those again.
    #[serde(default, skip_serializing_if = "is_none")]
    pub sub_agents: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildStatus {
    Completed,
    Failed,
    /// Its own time was up.
    Timeout,
    /// With its parent.
    Cancelled,
}

impl SubagentFinished {
    /// Of one that leaves nothing behind but its bill.
    pub const fn bill(execution_id: ExecutionId, role: Role, usage: Usage, cost: Usd) -> Self {
        Self { execution_id, role, usage, cost, label: String::new(), status: None, duration_ms: 0, left: None }
    }
}

/// A child, as its parent's fold knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    pub execution_id: ExecutionId,
    pub call_id: CallId,
    pub label: String,
    /// Of what it says, once it has ended.
    pub ended: Option<Taint>,
    /// How many agents it spawned itself.
    pub sub_agents: u32,
    /// What is to become of the file that its words go to.
    pub writes: Option<Box<Probe>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
const fn is_nothing(value: &u64) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
const fn is_none(value: &u32) -> bool {
    *value == 0
}
