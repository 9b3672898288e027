//! `/v1/terminals`: the screens of agents that have one, to be looked at, and typed into by those whose token is good for that.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use windlass_api::{
    PROBLEM_JSON, Problem, RecordingList, TICKET_PREFIX, Terminal, TerminalList, TerminalRecording, TerminalScreen,
    TerminalTicket,
};
use windlass_domain::{ExecutionId, Wall};
use windlass_engine::Error;

use crate::ask::{Asked, InPath, PageQuery, named};
use crate::auth::{Caller, TICKETS_ARE_GOOD_FOR};
use crate::http::Busy;
use crate::problems::{Problems, Refusal};
use crate::service::Service;
use crate::terminals::{self, Looker, Upgrading};

/// Where tickets are given. What is answered there is a secret, and is kept nowhere.
pub const TICKET: &str = "/v1/executions/{execution}/terminal/ticket";

#[utoipa::path(
    get,
    path = "/v1/terminals",
    tag = "terminals",
    operation_id = "list_terminals",
    security(("bearer" = ["read"])),
    params(PageQuery),
    responses((status = 200, description = "Those that are open, in the order in which they were opened.", body = TerminalList), Problems)
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<TerminalList>, Refusal> {
    let page = query.read::<ExecutionId>()?;
    let mut names = terminals::names(&service).await?;
    names.sort_unstable();
    names.retain(|name| page.after.is_none_or(|after| *name > after));
    let mut terminals: Vec<Terminal> = Vec::new();
    for execution in names {
        if !is_theirs(&service, &caller, execution).await? {
            continue;
        }
        let looked = terminals::look(&service, execution).await?.terminal;
        if looked.alive && terminals.len() == page.limit {
            let next = terminals.last().map(|last| last.execution_id.clone());
            return Ok(Json(TerminalList { terminals, next }));
        }
        terminals.extend(Some(looked).filter(|terminal| terminal.alive));
    }
    Ok(Json(TerminalList { terminals, next: None }))
}

/// What terminals showed that are closed by now, and those that are open so far.
#[utoipa::path(
    get,
    path = "/v1/recordings",
    tag = "terminals",
    operation_id = "list_recordings",
    security(("bearer" = ["read"])),
    params(PageQuery),
    responses((status = 200, description = "Recordings, newest first.", body = RecordingList), Problems)
)]
pub async fn recordings(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<RecordingList>, Refusal> {
    let page = query.read::<ExecutionId>()?;
    let engine = service.engine(&caller);
    let all = terminals::recordings(&service).await?;
    let behind = all.into_iter().filter(|execution| page.after.is_none_or(|after| *execution < after));
    let mut recordings: Vec<TerminalRecording> = Vec::new();
    let mut next = None;
    for execution in behind {
        let standing = match engine.execution(execution).await {
            Ok(standing) => standing,
            // Somebody else's.
            Err(Error::NoSuchExecution(_)) => continue,
            Err(error) => return Err(service.refuse(error)),
        };
        if recordings.len() == page.limit {
            next = recordings.last().map(|last| last.execution_id.clone());
            break;
        }
        recordings.push(TerminalRecording {
            execution_id: execution.to_string(),
            agent_id: standing.agent_id,
            began_at: standing.began_at.map(Wall::to_rfc3339),
            last_at: standing.last_at.to_rfc3339(),
            recording: format!("/v1/executions/{execution}/recording"),
        });
    }
    Ok(Json(RecordingList { recordings, next }))
}

#[utoipa::path(
    get,
    path = "/v1/executions/{execution}/terminal",
    tag = "terminals",
    operation_id = "get_terminal",
    security(("bearer" = ["read"])),
    params(("execution" = String, Path, description = "Its id.")),
    responses((status = 200, description = "Its screen, and where its recording is.", body = TerminalScreen), Problems)
)]
pub async fn get(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Json<TerminalScreen>, Refusal> {
    let execution = theirs(&service, &caller, &name).await?;
    let looked = terminals::look(&service, execution).await?;
    match looked.terminal.alive || looked.terminal.recording.is_some() {
        true => Ok(Json(looked)),
        false => Err(none_of(execution)),
    }
}

/// A ticket, good once and for a moment, with which a browser opens the terminal's WebSocket.
#[utoipa::path(
    post,
    path = "/v1/executions/{execution}/terminal/ticket",
    tag = "terminals",
    operation_id = "get_terminal_ticket",
    security(("bearer" = ["read"])),
    params(("execution" = String, Path, description = "Its id.")),
    responses((status = 201, description = "To be offered as a protocol.", body = TerminalTicket), Problems)
)]
pub async fn ticket(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<(StatusCode, Json<TerminalTicket>), Refusal> {
    let execution = theirs(&service, &caller, &name).await?;
    let path = format!("/v1/executions/{execution}/terminal/attach");
    let ticket = service.tickets.give(&caller, path, &*service.runtime);
    let protocol = format!("{TICKET_PREFIX}{ticket}");
    let expires_in_seconds = TICKETS_ARE_GOOD_FOR.as_secs();
    Ok((StatusCode::CREATED, Json(TerminalTicket { protocol, expires_in_seconds })))
}

/// The terminal over a WebSocket, protocol `windlass.terminal.v1`: binary messages are to be painted, or are typed; text messages are
/// JSON. First comes what has scrolled away and what stands there, then what happens. Typing and resizing need the scope `terminal`.
#[utoipa::path(
    get,
    path = "/v1/executions/{execution}/terminal/attach",
    tag = "terminals",
    operation_id = "attach_terminal",
    security(("bearer" = ["read"])),
    params(
        ("execution" = String, Path, description = "Its id."),
        ("Sec-WebSocket-Protocol" = Option<String>, Header, description = "windlass.terminal.v1, and the ticket of whoever bears no token."),
    ),
    responses(
        (status = 101, description = "A WebSocket."),
        (status = 426, description = "It is to be asked as a WebSocket.", content_type = PROBLEM_JSON, body = Problem),
        Problems
    )
)]
pub async fn attach(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    mut request: Request,
) -> Result<Response, Refusal> {
    let execution = theirs(&service, &caller, &name).await?;
    let Upgrading { answer, becomes } = terminals::upgrade(&mut request)?;
    let attached = terminals::attach(&service, execution).await?.ok_or_else(|| none_of(execution))?;
    let _busy = request.extensions().get::<Arc<Busy>>().cloned();
    let runtime = Arc::clone(&service.runtime);
    let looker = Looker { service, caller, execution, _busy, unanswered: AtomicU32::new(0) };
    runtime.spawn(Box::pin(async move {
        // Whoever is gone before they are answered is nobody's concern.
        if let Ok(upgraded) = becomes.await {
            terminals::watch(looker, upgraded, attached).await;
        }
    }));
    Ok(answer)
}

/// Everything that its screen showed so far, without what was typed and without secrets.
#[utoipa::path(
    get,
    path = "/v1/executions/{execution}/recording",
    tag = "terminals",
    operation_id = "get_recording",
    security(("bearer" = ["read"])),
    params(("execution" = String, Path, description = "Its id.")),
    responses((status = 200, description = "An asciicast of version 2.", content_type = "application/x-asciicast", body = String), Problems)
)]
pub async fn recording(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Response, Refusal> {
    let execution = theirs(&service, &caller, &name).await?;
    terminals::recording(service, execution).await
}

async fn theirs(service: &Service, caller: &Caller, name: &str) -> Result<ExecutionId, Refusal> {
    let execution: ExecutionId = named("execution", name)?;
    match is_theirs(service, caller, execution).await? {
        true => Ok(execution),
        false => Err(crate::ask::nothing("execution", name)),
    }
}

/// The folders of terminals are everybody's; the journals say whose an execution is.
async fn is_theirs(service: &Service, caller: &Caller, execution: ExecutionId) -> Result<bool, Refusal> {
    match service.engine(caller).task_of(execution).await {
        Ok(_) | Err(Error::OfNoTask(_)) => Ok(true),
        Err(Error::NoSuchExecution(_)) => Ok(false),
        Err(error) => Err(service.refuse(error)),
    }
}

fn none_of(execution: ExecutionId) -> Refusal {
    let detail = format!("no terminal of the execution `{execution}` is open");
    Refusal::new(StatusCode::NOT_FOUND, "no_terminal", detail)
        .hint("only what was begun with `terminal` has one, while it runs; afterwards there is its recording")
}
