//! `/v1/sessions`: conversations. What is said is kept at once and answered in its turn; work that it begins waits for a yes to its
//! plan like any other.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use serde_json::json;
use windlass_api::{
    Conversation, SaidAccepted, SayRequest, Scope, Session, SessionList, SessionRequest, SessionSummary, SessionTask,
    Utterance,
};
use windlass_domain::coordinate::{Channel, Origin, TaskEntry, Trigger, Triggered, is_nobodys};
use windlass_domain::session::{Said, SessionState};
use windlass_domain::{MessageId, Seq, SessionId, Taint};
use windlass_engine::{Heeded, Means, Naming, Span};

use crate::ask::{Asked, InPath, PageQuery, Sent, named, nothing, own_name};
use crate::auth::Caller;
use crate::events::{EventsQuery, Only, stream};
use crate::problems::{Problems, Refusal};
use crate::service::Service;

/// Of the words that a conversation began with, a list tells so many characters.
const LONGEST_FIRST_WORDS: usize = 120;

/// The conversation about a folder that goes by a name; it begins with the first message.
#[utoipa::path(
    post,
    path = "/v1/sessions",
    tag = "sessions",
    operation_id = "open_session",
    security(("bearer" = ["write"])),
    request_body = SessionRequest,
    responses((status = 200, description = "The conversation.", body = Session), Problems)
)]
pub async fn open(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Sent(request): Sent<SessionRequest>,
) -> Result<Json<Session>, Refusal> {
    let folder = service.house.folder(&caller.tenant, request.workspace.as_deref())?;
    let session = SessionId::of(&folder.to_string_lossy(), &request.name);
    let state = service.engine(&caller).session(session).await.map_err(|error| service.refuse(error))?;
    let mut told = told(&service, &caller, session, &state).await?;
    told.workspace = Some(folder.to_string_lossy().into_owned());
    Ok(Json(told))
}

#[utoipa::path(
    get,
    path = "/v1/sessions",
    tag = "sessions",
    operation_id = "list_sessions",
    security(("bearer" = ["read"])),
    params(PageQuery),
    responses((status = 200, description = "The conversations.", body = SessionList), Problems)
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<SessionList>, Refusal> {
    let page = query.read::<SessionId>()?;
    let engine = service.engine(&caller);
    let ids = engine.session_ids(page.after, page.limit).await.map_err(|error| service.refuse(error))?;
    let next = ids.last().filter(|_| ids.len() == page.limit).map(ToString::to_string);
    let mut sessions = Vec::with_capacity(ids.len());
    for session in ids {
        let state = engine.session(session).await.map_err(|error| service.refuse(error))?;
        let span = engine.span(session).await.map_err(|error| service.refuse(error))?;
        sessions.push(summary(session, &state, span));
    }
    Ok(Json(SessionList { sessions, next }))
}

#[utoipa::path(
    get,
    path = "/v1/sessions/{session}",
    tag = "sessions",
    operation_id = "get_session",
    security(("bearer" = ["read"])),
    params(("session" = String, Path, description = "Its id.")),
    responses((status = 200, description = "The conversation.", body = Session), Problems)
)]
pub async fn get(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Json<Session>, Refusal> {
    let (session, state) = known(&service, &caller, &name).await?;
    Ok(Json(told(&service, &caller, session, &state).await?))
}

#[utoipa::path(
    post,
    path = "/v1/sessions/{session}/messages",
    tag = "sessions",
    operation_id = "say",
    security(("bearer" = ["write"])),
    params(("session" = String, Path, description = "Its id.")),
    request_body = SayRequest,
    responses((status = 202, description = "It is kept, and will be answered.", body = SaidAccepted), Problems)
)]
pub async fn say(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    Sent(request): Sent<SayRequest>,
) -> Result<(StatusCode, Json<SaidAccepted>), Refusal> {
    let session: SessionId = named("session", &name)?;
    let engine = service.engine(&caller);
    let state = engine.session(session).await.map_err(|error| service.refuse(error))?;
    let workspace = state.workspace.clone().or(request.workspace);
    let origin = speaker(&caller, request.user_id.as_deref())?;
    let words = request.message.clone();
    let template = service.house.saying(&caller.tenant, SayRequest { workspace, ..request }).await?;
    // Whoever may send the same again says so with an `Idempotency-Key`.
    let trigger_id = own_name(MessageId::new(service.runtime.wall(), service.runtime.random()));
    let what = Triggered::UserMessage { words, task_id: None };
    let trigger = Trigger { trigger_id, origin, session_id: Some(own_name(session)), what };
    let means = Means { template: Some(&template), key: None };
    let heeded = Box::pin(engine.trigger(&trigger, means)).await.map_err(|error| service.refuse(error))?;
    let Heeded::Said(accepted) = heeded else {
        return Err(service.broken("a message to a conversation", &"it was taken for something else"));
    };
    let told = SaidAccepted {
        session_id: accepted.session.to_string(),
        message_id: accepted.message.to_string(),
        turn: accepted.run.map(|run| run.to_string()),
    };
    Ok((StatusCode::ACCEPTED, Json(told)))
}

#[utoipa::path(
    get,
    path = "/v1/sessions/{session}/messages",
    tag = "sessions",
    operation_id = "list_messages",
    security(("bearer" = ["read"])),
    params(("session" = String, Path, description = "Its id."), PageQuery),
    responses((status = 200, description = "What was said, oldest first.", body = Conversation), Problems)
)]
pub async fn messages(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<Conversation>, Refusal> {
    let page = query.read::<u64>()?;
    let (session, state) = known(&service, &caller, &name).await?;
    let after = Seq(page.after.unwrap_or(0));
    let found = service.engine(&caller).said_after(session, after, page.limit).await;
    let (said, has_more) = found.map_err(|error| service.refuse(error))?;
    let utterance = |said: Said| match said {
        Said::User(words) => Utterance { by: "user".to_owned(), words },
        Said::Proxy(words) => Utterance { by: "windlass".to_owned(), words },
    };
    let next = said.last().filter(|_| has_more).map(|(seq, _)| seq.0.to_string());
    let said = said.into_iter().map(|(_, said)| utterance(said)).collect();
    let news =
        state.news.iter().map(|(task, news)| json!({"task_id": task, "status": news.status, "trouble": news.trouble}));
    Ok(Json(Conversation { session_id: session.to_string(), said, news: news.collect(), next }))
}

/// As `/v1/events`, of this conversation and of its tasks.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session}/events",
    tag = "sessions",
    operation_id = "watch_session",
    security(("bearer" = ["read"])),
    params(("session" = String, Path, description = "Its id."), EventsQuery, ("Last-Event-ID" = Option<String>, Header, description = "The last one that was seen.")),
    responses((status = 200, description = "Server-sent events.", content_type = "text/event-stream", body = String), Problems)
)]
pub async fn events(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    Asked(query): Asked<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let (session, _) = known(&service, &caller, &name).await?;
    let begun = service.engine(&caller).before_all_of("session", &session.to_string()).await;
    let from = begun.map_err(|error| service.refuse(error))?.unwrap_or_default();
    stream(Arc::clone(&service), &caller, &headers, &query, Only::Of { id: session.to_string(), from }).await
}

/// One in which something was said.
pub(super) async fn known(
    service: &Service,
    caller: &Caller,
    name: &str,
) -> Result<(SessionId, SessionState), Refusal> {
    let session: SessionId = named("session", name)?;
    let state = service.engine(caller).session(session).await.map_err(|error| service.refuse(error))?;
    match state.workspace {
        Some(_) => Ok((session, state)),
        None => Err(nothing("session", name)),
    }
}

/// Who says something: whoever asks, or whom they may speak for.
fn speaker(caller: &Caller, user_id: Option<&str>) -> Result<Origin, Refusal> {
    let by = match user_id {
        None => caller.name.clone(),
        Some(_) if !caller.may(Scope::Admin) => {
            return Err(Refusal::beyond(Scope::Admin).hint("without `user_id` it is said in the name of the token"));
        }
        Some(user) if user.trim().is_empty() || is_nobodys(user) => {
            return Err(Refusal::unfit(format!("`user_id` names nobody: {user:?}"))
                .hint("records have that name for what has nobody's; give the user another one"));
        }
        Some(user) => user.to_owned(),
    };
    Ok(Origin { by, channel: Channel::Http, taint: Taint::Auth })
}

async fn told(
    service: &Service,
    caller: &Caller,
    session: SessionId,
    state: &SessionState,
) -> Result<Session, Refusal> {
    let engine = service.engine(caller);
    let view = engine.session_state(session, Naming::Ids).await.map_err(|error| service.refuse(error))?;
    let span = engine.span(session).await.map_err(|error| service.refuse(error))?;
    let SessionSummary { session_id, workspace, turn, unheard, channel, began_position, last_at, first_words, .. } =
        summary(session, state, span);
    let (user_id, tasks, active_task_id) = match view {
        Some(view) => (view.user_id, view.tasks, view.active_task_id),
        None => (caller.name.clone(), Vec::new(), None),
    };
    let tasks = tasks.into_iter().map(entry).collect();
    Ok(Session {
        session_id,
        workspace,
        turn,
        unheard,
        user_id,
        channel,
        active_task_id,
        tasks,
        began_position,
        last_at,
        first_words,
    })
}

fn summary(session: SessionId, state: &SessionState, span: Option<Span>) -> SessionSummary {
    let shortened = |words: String| words.chars().take(LONGEST_FIRST_WORDS).collect();
    SessionSummary {
        began_position: span.as_ref().map(|span| span.began),
        last_at: span.as_ref().map(|span| span.last_at.to_rfc3339()),
        first_words: span.and_then(|span| span.first_words).map(shortened),
        session_id: session.to_string(),
        workspace: state.workspace.clone(),
        turn: state.turn.as_ref().map(|turn| turn.run.to_string()),
        unheard: state.unheard.len(),
        user_id: state.user_id.clone(),
        channel: state.workspace.is_some().then(|| word(&state.channel)),
        tasks: state.tasks.iter().map(ToString::to_string).collect(),
    }
}

fn entry(entry: TaskEntry) -> SessionTask {
    SessionTask {
        status: word(&entry.status),
        task_id: entry.task_id,
        goal_summary: entry.goal_summary,
        agent_session_id: entry.agent_session_id,
        created_at: entry.created_at,
        completed_at: entry.completed_at,
        paused_at: entry.paused_at,
        deadline: entry.deadline,
        deadline_action: entry.deadline_action,
    }
}

fn word(value: &impl serde::Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}
