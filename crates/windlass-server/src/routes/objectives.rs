//! `/v1/tasks/{task}/objective`: what a task is for and how far it has come, of every kind of task.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use windlass_api::{
    ChangeSought, Objective, ObjectiveBinding, ObjectiveCheck, ObjectiveConstraints, ObjectiveCorrection, ObjectiveTurn,
};
use windlass_domain::graph::{Change, Constraints, Corrected, GraphState};
use windlass_domain::task::TaskState;
use windlass_domain::{Check, TaskId};

use crate::ask::{InPath, named};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

/// The goal, when it is reached, its limits, what came of its parts, which ways were taken and what people changed. A direct task has a goal
/// and a base case, and the rest is empty.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task}/objective",
    tag = "tasks",
    operation_id = "get_objective",
    security(("bearer" = ["read"])),
    params(("task" = String, Path, description = "Its id.")),
    responses((status = 200, description = "What it is for, and how far it has come.", body = Objective), Problems)
)]
pub async fn get(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
) -> Result<Json<Objective>, Refusal> {
    let task: TaskId = named("task", &task)?;
    let engine = service.engine(&caller);
    let state = engine.task(task).await.map_err(|error| service.refuse(error))?;
    let graph = engine.graph(task).await.map_err(|error| service.refuse(error))?;
    let sought = match graph.sought {
        None => None,
        Some(planner) => {
            let over = engine.task(planner).await.map_err(|error| service.refuse(error))?.is_over();
            Some(ChangeSought { planner: planner.to_string(), over })
        }
    };
    Ok(Json(Objective { sought, ..told(task, &state, &graph) }))
}

fn told(task: TaskId, state: &TaskState, graph: &GraphState) -> Objective {
    let created = state.created.as_ref();
    let agreed = graph.objective.as_ref();
    let asked = || created.map(|created| created.command.goal.clone()).unwrap_or_default();
    let base_case = agreed.map(|agreed| &agreed.base_case).or(created.map(|created| &created.base_case));
    let words = |said: fn(&windlass_domain::graph::Objective) -> &String| agreed.map(said).cloned().unwrap_or_default();
    let is_checked = base_case.is_some_and(|checks| !checks.0.is_empty());
    let of_attempts = || state.result.as_ref().map(|result| result.verified).filter(|_| is_checked);
    Objective {
        task_id: task.to_string(),
        goal: agreed.map_or_else(asked, |agreed| agreed.goal.clone()),
        background_intent: words(|agreed| &agreed.background_intent),
        deliverables: words(|agreed| &agreed.deliverables),
        definition_of_done: words(|agreed| &agreed.definition_of_done),
        base_case: base_case.iter().flat_map(|checks| &checks.0).map(check).collect(),
        base_case_passed: graph.checked.as_ref().map(|(_, passed)| *passed).or_else(of_attempts),
        constraints: constraints(graph.work.constraints()),
        bindings: bindings(graph),
        trail: graph.work.trail().iter().map(turn).collect(),
        corrections: graph.corrections.iter().map(correction).collect(),
        sought: None,
    }
}

fn check(check: &Check) -> ObjectiveCheck {
    ObjectiveCheck {
        name: check.name.clone(),
        timeout_seconds: check.timeout_seconds,
        network: check.network,
        protect: check.protect.clone(),
    }
}

fn constraints(given: &Constraints) -> ObjectiveConstraints {
    ObjectiveConstraints {
        max_iterations: given.max_iterations,
        max_parallel_agents: given.max_parallel_agents,
        max_stall_count: limit(given.max_stall_count),
        max_atoms: limit(given.max_atoms),
        max_choices: limit(given.max_choices),
        max_split_depth: given.max_split_depth,
        max_replan_depth: given.max_replan_depth,
        probe_before_switch: given.probe_before_switch,
    }
}

/// The largest number there is stands for none.
fn limit(given: u32) -> Option<u32> {
    (given != u32::MAX).then_some(given)
}

fn bindings(graph: &GraphState) -> Vec<ObjectiveBinding> {
    let resolved = graph.atoms.iter().filter_map(|(atom, progress)| {
        let (binding, summary) = (progress.binding()?, progress.summary()?);
        Some(ObjectiveBinding {
            atom: atom.to_string(),
            summary: summary.to_owned(),
            artifacts: binding.artifacts.iter().map(|artifact| artifact.filepath.clone()).collect(),
            files: binding.files.clone(),
        })
    });
    resolved.collect()
}

fn turn(turn: &windlass_domain::graph::Turn) -> ObjectiveTurn {
    ObjectiveTurn { group: turn.group.to_string(), choice: turn.choice.to_string() }
}

fn correction(corrected: &Corrected) -> ObjectiveCorrection {
    let kind = match &corrected.change {
        Change::Objective { .. } => "objective_change",
        Change::Graph { .. } => "dag_adjustment",
        Change::Constraints { .. } => "constraint_change",
        Change::Binding { .. } => "bindings_override",
    };
    ObjectiveCorrection {
        at: corrected.at.to_rfc3339(),
        kind: kind.to_owned(),
        description: corrected.description.clone(),
        trail_cleared: corrected.trail_cleared,
        interrupted: corrected.dismissed.len(),
    }
}
