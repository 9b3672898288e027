//! `/v1/tasks/{task}/start`: beginning what was agreed on, in two steps as everywhere: it is looked at, and begun as it was seen.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde_json::{Value, json};
use windlass_api::{Heard, PROBLEM_JSON, Problem, StartRequest, ToStart};
use windlass_domain::approval::{Card, RiskLevel, Strength};

use super::task_control::{Answer, heard, whole};
use crate::ask::{InPath, Sent};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

/// What whoever begins it approves: the graph, its checks and the worst case.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task}/start",
    tag = "tasks",
    operation_id = "get_task_start",
    security(("bearer" = ["read"])),
    params(("task" = String, Path, description = "Its id.")),
    responses((status = 200, description = "The card, as it is at this moment.", body = ToStart), (status = 409, description = "It is a part, and begins with the whole.", content_type = PROBLEM_JSON, body = Problem), Problems)
)]
pub async fn to_start(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
) -> Result<Json<ToStart>, Refusal> {
    let engine = service.engine(&caller);
    let task = whole(&service, &engine, &task).await?;
    let card = engine.agreed(task, None).await.map_err(|error| service.refuse(error))?;
    let seen = card.as_ref().and_then(seen);
    let card = card.map_or(Value::Null, |card| json!(card));
    Ok(Json(ToStart { task_id: task.to_string(), card, seen }))
}

/// Of a card whose id is nobody's, what makes it the one that was shown.
fn seen(card: &Card) -> Option<String> {
    card.binds.plan_hash.map(|hash| hash.to_string())
}

/// Begins what was agreed on. Whoever starts it approves the graph and the worst case, and says with `seen` that these are the ones that
/// they were shown.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task}/start",
    tag = "tasks",
    operation_id = "start_task",
    security(("bearer" = ["approve"])),
    params(("task" = String, Path, description = "Its id.")),
    request_body = StartRequest,
    responses((status = 202, description = "It begins.", body = Heard), Problems)
)]
pub async fn start(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
    Sent(request): Sent<StartRequest>,
) -> Answer {
    let engine = service.engine(&caller);
    let task = whole(&service, &engine, &task).await?;
    let shown = engine.agreed(task, None).await.map_err(|error| service.refuse(error))?;
    if let (Some(card), Some(said)) = (&shown, &request.seen)
        && seen(card).as_ref() != Some(said)
    {
        return Err(Refusal::new(StatusCode::CONFLICT, "changed", "it was changed since it was shown")
            .hint("look at it once more: GET of the same address shows it"));
    }
    let key = service.house.owner_key()?;
    let strength = if request.confirmed { Strength::Confirmed } else { Strength::Explicit };
    let needs_more = shown.as_ref().is_some_and(|card| card.risk_level >= RiskLevel::High);
    if needs_more && !request.confirmed {
        return Err(Refusal::new(StatusCode::CONFLICT, "second_step", "it may reach services beyond its folder")
            .hint("say `confirmed: true` if that is meant"));
    }
    let started = Box::pin(engine.start(task, &key, shown.as_ref(), (strength, None))).await;
    started.map_err(|error| service.refuse(error))?;
    engine.ask_to_go_on(task).await.map_err(|error| service.refuse(error))?;
    heard(task)
}
