//! `windlass plan REQUEST`: a planner writes a plan, a person looks at it, and agents carry it out. `windlass plan check FILE` only
//! looks at a document.

use windlass_domain::plan::PlanBudget;
use windlass_engine::Planning;

use super::plan_check::plan_check;
use super::run::begin;
use crate::arguments::{Limits, Plan, PlanAction, Run};
use crate::exit::Exit;

pub async fn plan(arguments: Plan) -> anyhow::Result<Exit> {
    match &arguments.action {
        Some(PlanAction::Check(check)) => plan_check(check),
        None => begin(request(arguments), Planning::Wanted).await,
    }
}

/// As a run whose own budget is the planner's: what the work may use stands in the plan.
pub(super) fn request(arguments: Plan) -> Run {
    let most = PlanBudget::default();
    let limits = Limits {
        max_iterations: arguments.limits.max_iterations,
        timeout: arguments.limits.timeout,
        max_tokens: arguments.limits.max_tokens.or(Some(most.max_tokens)),
        max_cost: arguments.limits.max_cost.or(Some(most.max_cost_usd.as_dollars())),
        max_attempts: None,
    };
    Run {
        goal: arguments.request,
        plan: None,
        workspace: arguments.workspace,
        base_case: Vec::new(),
        constraints: arguments.constraints,
        attach: arguments.attach,
        agent: "executor".to_owned(),
        model: arguments.model,
        pattern: None,
        tactician: false,
        terminal: false,
        rehearsal: arguments.rehearsal,
        detach: arguments.detach,
        limits,
        sandbox: arguments.sandbox,
        output: arguments.output,
    }
}
