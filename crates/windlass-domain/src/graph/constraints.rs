//! The limits of an objective (seed 004, contracts §7), which make its worst case a number.

use serde::{Deserialize, Serialize};

/// Of executions of one atom that were cut short from outside.
pub const MAX_INTERRUPTIONS: u32 = 20;
/// Of one atom.
pub const MAX_PROBES: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Constraints {
    /// Passes of the driver, each of which starts at most `max_parallel_agents`. None: as many as it takes.
    pub max_iterations: Option<u32>,
    pub max_parallel_agents: u32,
    /// Passes in which nothing became less, before something else is tried.
    pub max_stall_count: u32,
    /// All that there ever were, choices included.
    pub max_atoms: u32,
    /// Of all groups that there ever were.
    pub max_choices: u32,
    pub max_split_depth: u32,
    pub max_replan_depth: u32,
    /// Whether somebody looks at the next way before the first turn back in a group.
    pub probe_before_switch: bool,
}

impl Constraints {
    /// Of a plan that nobody agreed on limits for: each item has its own, and the plan is as large as it was shown.
    pub const fn of_plans() -> Self {
        Self {
            max_iterations: None,
            max_parallel_agents: 8,
            max_stall_count: u32::MAX,
            max_atoms: u32::MAX,
            max_choices: u32::MAX,
            max_split_depth: 0,
            max_replan_depth: 2,
            probe_before_switch: false,
        }
    }
}

impl Default for Constraints {
    fn default() -> Self {
        Self {
            max_iterations: Some(20),
            max_parallel_agents: 3,
            max_stall_count: 3,
            max_atoms: 200,
            max_choices: 50,
            max_split_depth: 2,
            max_replan_depth: 2,
            probe_before_switch: true,
        }
    }
}
