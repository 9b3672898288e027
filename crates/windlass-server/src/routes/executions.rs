//! `/v1/executions`, and those of a task: single runs of single agents, their journals, and the turns that these tell of.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::json;
use windlass_api::{Execution, ExecutionList, Items, RecordList};
use windlass_domain::{ExecutionId, TaskId, Usd, Wall};
use windlass_engine::{Error, ExecutionStanding};

use super::records;
use super::whose::Workers;
use crate::ask::{Asked, InPath, PageQuery, listed, named, nothing};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;
use crate::terminals;

#[utoipa::path(
    get,
    path = "/v1/executions/{execution}",
    tag = "executions",
    operation_id = "get_execution",
    security(("bearer" = ["read"])),
    params(("execution" = String, Path, description = "Its id.")),
    responses((status = 200, description = "The execution as it stands.", body = Execution), Problems)
)]
pub async fn get(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Json<Execution>, Refusal> {
    let execution: ExecutionId = named("execution", &name)?;
    let engine = service.engine(&caller);
    let standing = engine.execution(execution).await.map_err(|error| refuse(&service, &name, error))?;
    let atom = Workers::default().item(&engine, execution).await.map_err(|error| service.refuse(error))?;
    let recorded = terminals::recorded(&service, vec![execution]).await;
    Ok(Json(told(execution, standing, atom, recorded.contains(&execution))))
}

/// Those that worked on it, and for those who did, in the order in which they began.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task}/executions",
    tag = "executions",
    operation_id = "list_executions",
    security(("bearer" = ["read"])),
    params(("task" = String, Path, description = "Its id."), PageQuery),
    responses((status = 200, description = "Executions as they stand.", body = ExecutionList), Problems)
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<ExecutionList>, Refusal> {
    let task: TaskId = named("task", &name)?;
    let page = query.read::<u64>()?;
    let engine = service.engine(&caller);
    let all = engine.executions_of(task).await.map_err(|error| service.refuse(error))?;
    let (shown, next) = listed(all, &page);
    let recorded = terminals::recorded(&service, shown.clone()).await;
    let (mut executions, mut workers) = (Vec::with_capacity(shown.len()), Workers::default());
    for execution in shown {
        let standing = engine.execution(execution).await.map_err(|error| service.refuse(error))?;
        let atom = workers.item(&engine, execution).await.map_err(|error| service.refuse(error))?;
        executions.push(told(execution, standing, atom, recorded.contains(&execution)));
    }
    Ok(Json(ExecutionList { executions, next }))
}

fn told(execution: ExecutionId, standing: ExecutionStanding, atom: Option<String>, recorded: bool) -> Execution {
    let ExecutionStanding { lifecycle, activity, attention, agent_id, model, scope, records, .. } = standing;
    Execution {
        execution_id: execution.to_string(),
        lifecycle: json!(lifecycle),
        activity: json!(activity),
        attention: json!(attention),
        agent_id,
        model,
        scope: json!(scope),
        records: usize::try_from(records).unwrap_or(usize::MAX),
        parent: standing.parent.map(|parent| parent.to_string()),
        atom,
        began_at: standing.began_at.map(Wall::to_rfc3339),
        last_at: standing.last_at.to_rfc3339(),
        tokens: standing.tokens,
        cost_usd: standing.cost.map(Usd::as_dollars),
        recorded,
    }
}

#[utoipa::path(
    get,
    path = "/v1/executions/{execution}/journal",
    tag = "executions",
    operation_id = "list_journal",
    security(("bearer" = ["read"])),
    params(("execution" = String, Path, description = "Its id."), PageQuery),
    responses((status = 200, description = "Its records and those of the agents it spawned, oldest first.", body = RecordList), Problems)
)]
pub async fn journal(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<RecordList>, Refusal> {
    let page = query.read::<u64>()?;
    let execution: ExecutionId = named("execution", &name)?;
    let page = service.engine(&caller).execution_page(execution, page.after.unwrap_or(0), page.limit).await;
    Ok(Json(records::told(page.map_err(|error| refuse(&service, &name, error))?)))
}

/// Its turns. One of more than a hundred steps comes in several items, one after the other: all of them have the turn's number and what the
/// whole turn came to, the first one what was asked, each its own steps, and those after the first `continues`. A page may have fewer items than
/// `limit` and not be the last.
#[utoipa::path(
    get,
    path = "/v1/executions/{execution}/timeline",
    tag = "executions",
    operation_id = "get_timeline",
    security(("bearer" = ["read"])),
    params(("execution" = String, Path, description = "Its id."), PageQuery),
    responses((status = 200, description = "Its turns, told from the journal, oldest first.", body = Items), Problems)
)]
pub async fn turns(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<Items>, Refusal> {
    let page = query.read::<usize>()?;
    let execution: ExecutionId = named("execution", &name)?;
    let page = service.engine(&caller).turns_after(execution, page.after.unwrap_or(0), page.limit).await;
    let page = page.map_err(|error| refuse(&service, &name, error))?;
    let items = page.turns.into_iter().map(|told| {
        let mut item = json!(told.turn);
        item["began_at"] = json!(told.turn.began_at.to_rfc3339());
        item["last_at"] = json!(told.turn.last_at.to_rfc3339());
        if told.continues {
            item["continues"] = json!(true);
        }
        item
    });
    Ok(Json(Items { items: items.collect(), next: page.next.map(|next| next.to_string()) }))
}

fn refuse(service: &Service, name: &str, error: Error) -> Refusal {
    match error {
        Error::NoSuchExecution(_) => nothing("execution", name),
        error => service.refuse(error),
    }
}
