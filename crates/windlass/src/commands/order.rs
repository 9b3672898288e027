//! What is asked for, whoever asks: a command, HTTP, Redis or an MCP client. Each turns what it was told into an order, and from there on
//! there is one way. How the order is then waited for is no part of it.

use std::path::PathBuf;

use crate::arguments::{Limits, Plan, PlanningLimits, Run, SandboxChoice};
use crate::attach::Attachment;

/// Windlass's own.
pub const OWN_AGENT: &str = "executor";

#[derive(Debug, Clone)]
pub struct Order {
    /// In words; with a plan, its title stands for it.
    pub goal: String,
    pub workspace: PathBuf,
    /// Checks as they were typed.
    pub base_case: Vec<String>,
    pub constraints: Vec<String>,
    pub attach: Vec<Attachment>,
    pub agent: String,
    /// On the agent's own screen.
    pub terminal: bool,
    pub model: Option<String>,
    pub pattern: Option<String>,
    pub tactician: bool,
    pub rehearsal: Option<PathBuf>,
    pub limits: Limits,
    pub sandbox: SandboxChoice,
}

impl Order {
    /// Everything else as it is where nobody says anything.
    pub fn new(goal: impl Into<String>, workspace: impl Into<PathBuf>) -> Self {
        Self {
            goal: goal.into(),
            workspace: workspace.into(),
            base_case: Vec::new(),
            constraints: Vec::new(),
            attach: Vec::new(),
            agent: OWN_AGENT.to_owned(),
            terminal: false,
            model: None,
            pattern: None,
            tactician: false,
            rehearsal: None,
            limits: Limits::default(),
            sandbox: SandboxChoice::default(),
        }
    }
}

impl From<Run> for Order {
    fn from(run: Run) -> Self {
        Self {
            goal: run.goal.unwrap_or_default(),
            workspace: run.workspace,
            base_case: run.base_case,
            constraints: run.constraints,
            attach: files(run.attach),
            agent: run.agent,
            terminal: run.terminal,
            model: run.model,
            pattern: run.pattern,
            tactician: run.tactician,
            rehearsal: run.rehearsal,
            limits: run.limits,
            sandbox: run.sandbox,
        }
    }
}

impl From<Plan> for Order {
    fn from(plan: Plan) -> Self {
        Self {
            constraints: plan.constraints,
            attach: files(plan.attach),
            model: plan.model,
            rehearsal: plan.rehearsal,
            limits: plan.limits.into(),
            sandbox: plan.sandbox,
            ..Self::new(plan.request.unwrap_or_default(), plan.workspace)
        }
    }
}

/// Of this machine's.
pub fn files(named: Vec<PathBuf>) -> Vec<Attachment> {
    named.into_iter().map(Attachment::File).collect()
}

/// What is said, and no more: what is meant where nothing is said, whoever carries it out knows.
impl From<PlanningLimits> for Limits {
    fn from(said: PlanningLimits) -> Self {
        let PlanningLimits { max_iterations, timeout, max_tokens, max_cost } = said;
        Self { max_iterations, timeout, max_tokens, max_cost, max_attempts: None }
    }
}
