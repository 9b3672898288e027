//! What a task is for, and how far it has come: the goal, when a machine can tell that it is reached, its limits, what came of its parts,
//! which ways were taken, and what people changed on the way.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Objective {
    pub task_id: String,
    pub goal: String,
    pub background_intent: String,
    pub deliverables: String,
    pub definition_of_done: String,
    /// When these pass it is over, whatever else was planned.
    pub base_case: Vec<ObjectiveCheck>,
    /// Whether they passed when they were looked at last; none before.
    pub base_case_passed: Option<bool>,
    pub constraints: ObjectiveConstraints,
    /// What the parts that are done came to.
    pub bindings: Vec<ObjectiveBinding>,
    /// Where several ways were open, the ones that were taken, oldest first.
    pub trail: Vec<ObjectiveTurn>,
    /// What people changed, oldest first.
    pub corrections: Vec<ObjectiveCorrection>,
    /// The planner that was last sent to look for a change, where nothing was changed since.
    pub sought: Option<ChangeSought>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangeSought {
    /// To be said to `/redirect`.
    pub planner: String,
    /// Whether it has ended.
    pub over: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ObjectiveCheck {
    pub name: String,
    pub timeout_seconds: u64,
    pub network: bool,
    /// Paths that are as they were in the beginning while it runs.
    pub protect: Vec<String>,
}

/// None: as many as it takes, where nobody agreed on a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ObjectiveConstraints {
    pub max_iterations: Option<u32>,
    pub max_parallel_agents: u32,
    pub max_stall_count: Option<u32>,
    pub max_atoms: Option<u32>,
    pub max_choices: Option<u32>,
    pub max_split_depth: u32,
    pub max_replan_depth: u32,
    pub probe_before_switch: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ObjectiveBinding {
    pub atom: String,
    pub summary: String,
    /// What it published.
    pub artifacts: Vec<String>,
    /// The files of the work that its worker names.
    pub files: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ObjectiveTurn {
    pub group: String,
    pub choice: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ObjectiveCorrection {
    pub at: String,
    /// objective_change, dag_adjustment, constraint_change or bindings_override.
    pub kind: String,
    pub description: String,
    pub trail_cleared: bool,
    /// How many were at work and were sent away.
    pub interrupted: usize,
}
