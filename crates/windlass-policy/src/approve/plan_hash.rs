//! What binds an approval to a plan: everything the user saw (contracts §1), and nothing that the runtime changes later, so
//! that planner guidance and attempts leave it alone. Today a plan is one atom; projects are the same value with `tasks`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_domain::{BaseCase, Budget, Digest, Usd};

use super::canonical::{Unhashable, digest};

/// Contracts §1's fields by their names, the body, and digests of what the plan refers to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanSeen {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: PlanType,
    pub title: String,
    pub tasks: Vec<PlanSeen>,
    pub depends_on: Vec<String>,
    pub any_of: Option<String>,
    pub speculative: bool,
    pub needs_approval: bool,
    pub agent: String,
    pub skills: Vec<String>,
    pub pattern: String,
    pub probe: bool,
    pub interaction_mode: String,
    pub budget: Budget,
    pub plan_budget: PlanBudget,
    pub verify: BaseCase,
    pub gates: Vec<Value>,
    pub touches: Touches,
    pub input_artifacts_from: Vec<String>,
    pub follow_up_of: Option<String>,
    pub continuation_of: Option<String>,
    pub on_stuck: String,
    pub on_failure: String,
    pub escalation: Escalation,
    pub schedule: Option<String>,
    pub failure_context: Option<String>,
    pub body: String,
    pub skill_digests: BTreeMap<String, Digest>,
    /// Scripts of gates and checks.
    pub script_digests: BTreeMap<String, Digest>,
}

pub type Escalation = BTreeMap<String, Value>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanType {
    Task,
    Project,
    Goal,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanBudget {
    pub max_tokens: u64,
    pub max_cost_usd: Usd,
}

impl Default for PlanBudget {
    fn default() -> Self {
        Self { max_tokens: 100_000, max_cost_usd: Usd::from_nanos(1_000_000_000) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Touches {
    pub paths: Vec<String>,
    pub services: Vec<String>,
}

impl PlanSeen {
    /// A task of one atom; what is not said is as contracts §1 has it.
    pub fn one_atom(id: impl Into<String>, goal: impl Into<String>, verify: BaseCase, budget: Budget) -> Self {
        let goal = goal.into();
        Self {
            id: id.into(),
            kind: PlanType::Task,
            title: goal.lines().next().unwrap_or_default().to_owned(),
            tasks: Vec::new(),
            depends_on: Vec::new(),
            any_of: None,
            speculative: false,
            needs_approval: true,
            agent: "executor".to_owned(),
            skills: Vec::new(),
            pattern: "generic".to_owned(),
            probe: false,
            interaction_mode: "confirm_only_when_required".to_owned(),
            budget,
            plan_budget: PlanBudget::default(),
            verify,
            gates: Vec::new(),
            touches: Touches::default(),
            input_artifacts_from: Vec::new(),
            follow_up_of: None,
            continuation_of: None,
            on_stuck: "consult_planner".to_owned(),
            on_failure: "report".to_owned(),
            escalation: Escalation::new(),
            schedule: None,
            failure_context: None,
            body: goal,
            skill_digests: BTreeMap::new(),
            script_digests: BTreeMap::new(),
        }
    }
}

pub fn plan_hash(plan: &PlanSeen) -> Result<Digest, Unhashable> {
    digest("plan", plan)
}

/// A goal's template, to which a standing approval binds every fix task that it spawns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpawnPolicySeen {
    /// The goal that spawned tasks must name as their parent.
    pub parent: String,
    pub failure_context: Option<String>,
    pub skills: Vec<String>,
    pub gates: Vec<Value>,
    pub verify: BaseCase,
    pub escalation: Escalation,
}

pub fn spawn_policy_hash(policy: &SpawnPolicySeen) -> Result<Digest, Unhashable> {
    digest("spawn-policy", policy)
}
