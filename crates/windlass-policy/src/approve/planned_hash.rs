//! What binds an approval to a whole plan: the plan as it is kept, and everything that it is carried out with. Nothing that the runtime
//! changes later is in it.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_domain::graph::Objective;
use windlass_domain::plan::Plan;
use windlass_domain::task::{ExecutionConfig, ModelChoice};
use windlass_domain::{Digest, TaskId, TreeId};

use super::canonical::{Unhashable, digest};

#[derive(Debug, Clone, Serialize)]
pub struct PlannedSeen<'a> {
    pub task: TaskId,
    pub plan: &'a Plan,
    /// What it is for, where that was agreed on beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<&'a Objective>,
    pub goal: &'a str,
    pub constraints: &'a [String],
    pub execution_config: &'a ExecutionConfig,
    pub model: &'a ModelChoice,
    pub workspace: &'a str,
    pub sandbox: &'a str,
    pub baseline: Option<TreeId>,
    pub skill_digests: BTreeMap<&'a str, Digest>,
}

pub fn planned_hash(seen: &PlannedSeen<'_>) -> Result<Digest, Unhashable> {
    digest("planned", seen)
}
