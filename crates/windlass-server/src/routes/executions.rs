//! `/v1/executions`, and those of a task: single runs of single agents, their journals, and the turns that these tell of.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::json;
use windlass_api::{Execution, ExecutionList, Items, RecordList};
use windlass_domain::execution::{ExecutionEvent, ExecutionState};
use windlass_domain::timeline::timeline;
use windlass_domain::{ExecutionId, TaskId, Wall};
use windlass_engine::JournalRecord;

use super::records::page_of;
use crate::ask::{Asked, InPath, PageQuery, listed, named, nothing};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

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
    let (execution, story) = story(&service, &caller, &name).await?;
    let mut folded = Folded::default();
    for record in &story {
        if let JournalRecord::Execution { at, execution: whose, event, .. } = record
            && *whose == execution
        {
            folded.add(event, *at);
        }
    }
    Ok(Json(folded.told(execution)))
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
    let story = service.engine(&caller).story(task).await.map_err(|error| service.refuse(error))?;
    let mut all: BTreeMap<ExecutionId, (u64, Folded)> = BTreeMap::new();
    for record in &story {
        if let JournalRecord::Execution { at, execution, event, row } = record {
            let (_, folded) = all.entry(*execution).or_insert_with(|| (row.position.0, Folded::default()));
            folded.add(event, *at);
        }
    }
    let told = all.into_iter().map(|(execution, (began, folded))| (began, folded.told(execution)));
    let (executions, next) = listed(told, &page);
    Ok(Json(ExecutionList { executions, next }))
}

#[derive(Default)]
struct Folded {
    state: ExecutionState,
    records: usize,
}

impl Folded {
    fn add(&mut self, event: &ExecutionEvent, at: Wall) {
        self.state.apply(event, at);
        self.records += 1;
    }

    fn told(&self, execution: ExecutionId) -> Execution {
        let Self { state, records } = self;
        let header = state.header.as_deref();
        Execution {
            execution_id: execution.to_string(),
            lifecycle: json!(state.lifecycle),
            activity: json!(state.activity()),
            attention: json!(state.attention()),
            agent_id: header.map(|header| header.agent_id.clone()),
            model: header.map(|header| header.model.clone()),
            scope: json!(header.map(|header| &header.scope)),
            records: *records,
        }
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
    let (_, story) = story(&service, &caller, &name).await?;
    Ok(Json(page_of(&story, page)))
}

#[utoipa::path(
    get,
    path = "/v1/executions/{execution}/timeline",
    tag = "executions",
    operation_id = "get_timeline",
    security(("bearer" = ["read"])),
    params(("execution" = String, Path, description = "Its id."), PageQuery),
    responses((status = 200, description = "Its turns, told from the journal.", body = Items), Problems)
)]
pub async fn turns(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<Items>, Refusal> {
    let page = query.read::<usize>()?;
    let (execution, story) = story(&service, &caller, &name).await?;
    let own = story.iter().filter_map(|record| match record {
        JournalRecord::Execution { at, execution: whose, event, .. } if *whose == execution => {
            Some((event.as_ref(), *at))
        }
        _ => None,
    });
    let turns = timeline(own);
    let items = turns.iter().map(|turn| {
        let mut told = json!(turn);
        told["began_at"] = json!(turn.began_at.to_rfc3339());
        told["last_at"] = json!(turn.last_at.to_rfc3339());
        told
    });
    // The place of the first is 1, so that a page can begin behind it.
    let (items, next) = listed(items.enumerate().map(|(before, told)| (before + 1, told)), &page);
    Ok(Json(Items { items, next }))
}

async fn story(service: &Service, caller: &Caller, name: &str) -> Result<(ExecutionId, Vec<JournalRecord>), Refusal> {
    let execution: ExecutionId = named("execution", name)?;
    let story = service.engine(caller).execution_story(execution).await.map_err(|error| service.refuse(error))?;
    if story.is_empty() { Err(nothing("execution", name)) } else { Ok((execution, story)) }
}
