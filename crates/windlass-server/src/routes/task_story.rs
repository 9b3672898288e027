//! What happened in a task: its records, its graph, and why it does what it does.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use serde_json::Value;
use windlass_api::RecordList;
use windlass_domain::TaskId;
use windlass_engine::Error;

use super::records::told;
use crate::ask::{Asked, InPath, PageQuery, named};
use crate::auth::Caller;
use crate::events::{EventsQuery, Only, stream};
use crate::port::View;
use crate::problems::{Problems, Refusal, Unfit};
use crate::service::Service;

/// The whole story, the journals of its executions and of all who work for it included, in the order in which it was committed.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task}/records",
    tag = "tasks",
    operation_id = "list_task_records",
    security(("bearer" = ["read"])),
    params(("task" = String, Path, description = "Its id."), PageQuery),
    responses((status = 200, description = "Records, oldest first.", body = RecordList), Problems)
)]
pub async fn records(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<RecordList>, Refusal> {
    let task: TaskId = named("task", &task)?;
    let page = query.read::<u64>()?;
    let page = service.engine(&caller).task_page(task, page.after.unwrap_or(0), page.limit).await;
    Ok(Json(told(page.map_err(|error| service.refuse(error))?)))
}

/// As `/v1/events`, of this task and of all who work for it.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task}/events",
    tag = "tasks",
    operation_id = "watch_task",
    security(("bearer" = ["read"])),
    params(("task" = String, Path, description = "Its id."), EventsQuery, ("Last-Event-ID" = Option<String>, Header, description = "The last one that was seen.")),
    responses((status = 200, description = "Server-sent events.", content_type = "text/event-stream", body = String), Problems)
)]
pub async fn events(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    Asked(query): Asked<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let task: TaskId = named("task", &name)?;
    let begun = service.engine(&caller).before_all_of("task", &task.to_string()).await;
    let from = begun.and_then(|from| from.ok_or(Error::NoSuchTask(task))).map_err(|error| service.refuse(error))?;
    stream(Arc::clone(&service), &caller, &headers, &query, Only::Of { id: task.to_string(), from }).await
}

/// The work of a planned task: what is done, what is at work, what waits for what, which ways there are.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task}/graph",
    tag = "tasks",
    operation_id = "get_task_graph",
    security(("bearer" = ["read"])),
    params(("task" = String, Path, description = "Its id.")),
    responses((status = 200, description = "As `windlass graph --json` has it.", body = Value), Problems, Unfit)
)]
pub async fn graph(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
) -> Result<Json<Value>, Refusal> {
    shown(&service, &caller, &task, View::Graph).await
}

/// Why a planned task does what it does, what failed, what is left to try, and what was promised.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task}/explanation",
    tag = "tasks",
    operation_id = "explain_task",
    security(("bearer" = ["read"])),
    params(("task" = String, Path, description = "Its id.")),
    responses((status = 200, description = "As `windlass explain --json` has it.", body = Value), Problems, Unfit)
)]
pub async fn explanation(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
) -> Result<Json<Value>, Refusal> {
    shown(&service, &caller, &task, View::Explain).await
}

/// One that is not there is told of as everywhere else.
async fn shown(
    service: &Service,
    caller: &Caller,
    name: &str,
    view: impl FnOnce(TaskId) -> View,
) -> Result<Json<Value>, Refusal> {
    let task: TaskId = named("task", name)?;
    let engine = service.engine(caller);
    engine.task(task).await.map_err(|error| service.refuse(error))?;
    Ok(Json(service.house.view(engine, &caller.tenant, view(task)).await?))
}
