//! `/v1/tasks`: what was asked for, how it stands, and what may be said to it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde_json::json;
use windlass_api::{Scope, Task, TaskAccepted, TaskList, TaskPart, TaskRequest};
use windlass_domain::coordinate::{Channel, Origin};
use windlass_domain::task::{Part, PartOf, TaskState};
use windlass_domain::{SessionId, Taint, TaskId};
use windlass_engine::{Dispatch, Engine, Error};

use crate::ask::{Asked, InPath, PageQuery, Sent, named};
use crate::auth::Caller;
use crate::port::Word;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

/// Asks for a task. With the scope `approve` it begins on the caller's word; otherwise somebody is asked first.
#[utoipa::path(
    post,
    path = "/v1/tasks",
    tag = "tasks",
    operation_id = "create_task",
    security(("bearer" = ["write"])),
    request_body = TaskRequest,
    responses((status = 202, description = "It is kept, and will be worked on.", body = TaskAccepted), Problems)
)]
pub async fn create(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Sent(mut request): Sent<TaskRequest>,
) -> Result<(StatusCode, Json<TaskAccepted>), Refusal> {
    let word = if caller.may(Scope::Approve) { Word::Approves } else { Word::Asks };
    let engine = service.engine(&caller);
    let session = request.session_id.take().map(|name| conversation(&name)).transpose()?;
    if let Some(session) = session {
        let state = engine.session(session).await.map_err(|error| service.refuse(error))?;
        request.workspace = state.workspace.or(request.workspace);
    }
    let submission = service.house.task(&caller.tenant, word, request).await?;
    let key = match word {
        Word::Approves => Some(service.house.owner_key()?),
        Word::Asks => None,
    };
    let taken = match session {
        None => Box::pin(engine.submit(submission, Dispatch::ToWorkers, key.as_ref())).await,
        Some(session) => {
            let origin = Origin { by: caller.name.clone(), channel: Channel::Http, taint: Taint::Auth };
            Box::pin(engine.submit_within(session, &origin, submission, key.as_ref())).await
        }
    };
    let task = taken.map_err(|error| service.refuse(error))?;
    Ok((StatusCode::ACCEPTED, Json(TaskAccepted { task_id: task.to_string() })))
}

#[utoipa::path(
    get,
    path = "/v1/tasks",
    tag = "tasks",
    operation_id = "list_tasks",
    security(("bearer" = ["read"])),
    params(PageQuery),
    responses((status = 200, description = "The tasks, newest first.", body = TaskList), Problems)
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<TaskList>, Refusal> {
    let page = query.read::<TaskId>()?;
    let engine = service.engine(&caller);
    let refuse = |error: Error| service.refuse(error);
    let wholes = engine.wholes_before(page.after, page.limit).await.map_err(refuse)?;
    let next = wholes.last().filter(|_| wholes.len() == page.limit).map(|last| last.task_id.to_string());
    let mut tasks = Vec::with_capacity(wholes.len());
    for summary in wholes {
        tasks.push(told(&engine, summary.task_id, &summary.state).await.map_err(refuse)?);
    }
    Ok(Json(TaskList { tasks, next }))
}

#[utoipa::path(
    get,
    path = "/v1/tasks/{task}",
    tag = "tasks",
    operation_id = "get_task",
    security(("bearer" = ["read"])),
    params(("task" = String, Path, description = "Its id.")),
    responses((status = 200, description = "The task.", body = Task), Problems)
)]
pub async fn get(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
) -> Result<Json<Task>, Refusal> {
    let task: TaskId = named("task", &task)?;
    let engine = service.engine(&caller);
    let state = engine.task(task).await.map_err(|error| service.refuse(error))?;
    let told = told(&engine, task, &state).await.map_err(|error| service.refuse(error))?;
    Ok(Json(told))
}

fn conversation(name: &str) -> Result<SessionId, Refusal> {
    let unfit = || Refusal::unfit("`session_id` is the id of no conversation").hint("`POST /v1/sessions` gives one");
    name.parse().map_err(|_| unfit())
}

async fn told(engine: &Engine, task: TaskId, state: &TaskState) -> Result<Task, Error> {
    let stands = engine.how_it_stands(task, state).await?;
    let created = state.created.as_ref();
    let goal = created.map(|created| created.command.goal.clone()).unwrap_or_default();
    let (part_of, item) = match created.and_then(|created| created.part_of.as_ref()) {
        None => (None, None),
        Some(of) => part_of(engine, of).await.map(|(part_of, item)| (Some(part_of), item))?,
    };
    Ok(Task {
        task_id: task.to_string(),
        status: json!(state.status),
        standing: stands.word().to_owned(),
        waits_for: json!(state.waits_for),
        title: item.unwrap_or_else(|| first_line(&goal)),
        goal,
        part_of,
        workspace: created.map(|created| created.workspace.clone()).unwrap_or_default(),
        created_at: state.created_at.to_rfc3339(),
        attempts: state.attempts.len(),
        planned: created.is_some_and(|created| created.planned),
        result: json!(state.result),
    })
}

/// And what its item is called, where it is about one.
async fn part_of(engine: &Engine, of: &PartOf) -> Result<(TaskPart, Option<String>), Error> {
    let graph = engine.graph(of.root).await?;
    let (kind, atom) = match &of.part {
        Part::Atom { atom, .. } => ("atom", Some(atom)),
        Part::Plan { .. } => ("plan", None),
        Part::Research { .. } => ("research", None),
        Part::Guidance { .. } => ("guidance", None),
        Part::Probe { atom } => ("probe", Some(atom)),
        Part::Split { atom } => ("split", Some(atom)),
        Part::Correction {} => ("correction", None),
    };
    let title = match (&graph.objective, graph.work.root()) {
        (Some(agreed), _) => first_line(&agreed.goal),
        (None, Some(root)) => root.item.title.clone(),
        (None, None) => {
            let whole = engine.task(of.root).await?.created;
            whole.map(|whole| first_line(&whole.command.goal)).unwrap_or_default()
        }
    };
    let item = atom.and_then(|atom| graph.work.item(atom)).map(|item| item.title.clone());
    let told = TaskPart {
        root: of.root.to_string(),
        title,
        asked_by: of.task.to_string(),
        kind: kind.to_owned(),
        atom: atom.map(ToString::to_string),
    };
    Ok((told, item))
}

fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().to_owned()
}
