//! `/v1/executions/{execution}/fork`: a new task that goes on with an earlier conversation, from the end of one of its turns. First what is
//! taken over can be looked at.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;
use windlass_api::{ForkRequest, ForkShown, ForkTaken, PROBLEM_JSON, Problem};
use windlass_domain::ExecutionId;
use windlass_engine::{Dispatch, Error};

use crate::ask::{Asked, InPath, Sent, named, nothing};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TurnQuery {
    /// The last turn that is taken over; without one, the last that is complete.
    #[param(minimum = 1)]
    pub turn: Option<u32>,
}

/// What a fork would take over.
#[utoipa::path(
    get,
    path = "/v1/executions/{execution}/fork",
    tag = "executions",
    operation_id = "get_fork",
    security(("bearer" = ["read"])),
    params(("execution" = String, Path, description = "Its id."), TurnQuery),
    responses((status = 200, description = "What there is to go on with.", body = ForkShown), (status = 409, description = "There is nothing of it to go on with.", content_type = PROBLEM_JSON, body = Problem), Problems)
)]
pub async fn look(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    Asked(query): Asked<TurnQuery>,
) -> Result<Json<ForkShown>, Refusal> {
    let execution: ExecutionId = named("execution", &name)?;
    let fork = service.engine(&caller).fork_of(execution, query.turn).await;
    let fork = fork.map_err(|error| refuse(&service, &name, error))?;
    Ok(Json(ForkShown {
        execution_id: execution.to_string(),
        task_id: fork.task.to_string(),
        goal: fork.created.command.goal,
        workspace: fork.created.workspace,
        agent: fork.created.agent_id,
        model: fork.point.model,
        turn: fork.point.turn,
        leaves_out: fork.point.leaves_out,
        unended: fork.point.unended,
    }))
}

/// A new task that goes on with the conversation, on the caller's word. The earlier one stays as it is.
#[utoipa::path(
    post,
    path = "/v1/executions/{execution}/fork",
    tag = "executions",
    operation_id = "fork_execution",
    security(("bearer" = ["approve"])),
    params(("execution" = String, Path, description = "Its id.")),
    request_body = ForkRequest,
    responses((status = 202, description = "It is kept, and will be worked on.", body = ForkTaken), Problems)
)]
pub async fn fork(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    Sent(request): Sent<ForkRequest>,
) -> Result<(StatusCode, Json<ForkTaken>), Refusal> {
    let execution: ExecutionId = named("execution", &name)?;
    let engine = service.engine(&caller);
    let fork = engine.fork_of(execution, request.turn).await.map_err(|error| refuse(&service, &name, error))?;
    let submission = service.house.fork(&caller.tenant, fork.clone(), request).await?;
    let key = service.house.owner_key()?;
    let (turn, leaves_out) = (fork.point.turn, fork.point.leaves_out);
    let task = Box::pin(engine.submit_fork(submission, fork, Dispatch::ToWorkers, Some(&key))).await;
    let task_id = task.map_err(|error| service.refuse(error))?.to_string();
    Ok((StatusCode::ACCEPTED, Json(ForkTaken { task_id, turn, leaves_out })))
}

fn refuse(service: &Service, name: &str, error: Error) -> Refusal {
    match error {
        Error::NoSuchExecution(_) => nothing("execution", name),
        error => service.refuse(error),
    }
}
