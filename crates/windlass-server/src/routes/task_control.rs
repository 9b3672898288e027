//! What can be done about a task that there is: pause it, go on with it, stop it, end it, say something to it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use windlass_api::{Heard, MessageRequest, MessageSent, MessageWord, WishRequest};
use windlass_domain::TaskId;
use windlass_domain::execution::MessageKind;
use windlass_engine::{Engine, Error, Message, Sent as Became};

use crate::ask::{InPath, Sent, named};
use crate::auth::Caller;
use crate::port::Said;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

pub(super) type Answer = Result<(StatusCode, Json<Heard>), Refusal>;

pub(super) fn heard(task: TaskId) -> Answer {
    Ok((StatusCode::ACCEPTED, Json(Heard { task_id: task.to_string() })))
}

/// A part does not rest or end alone.
pub(super) async fn whole(service: &Service, engine: &Engine, named_task: &str) -> Result<TaskId, Refusal> {
    let task: TaskId = named("task", named_task)?;
    let state = engine.task(task).await.map_err(|error| service.refuse(error))?;
    match state.created.and_then(|created| created.part_of) {
        None => Ok(task),
        Some(of) => Err(Refusal::new(StatusCode::CONFLICT, "part", format!("this is a part of task {}", of.root))
            .hint("ask for it of the whole")),
    }
}

fn reason(request: WishRequest, unless_said: &str, caller: &Caller) -> String {
    match request.reason.trim() {
        "" => format!("{unless_said} by {}", caller.name),
        said => format!("{said} ({unless_said} by {})", caller.name),
    }
}

#[utoipa::path(
    post,
    path = "/v1/tasks/{task}/pause",
    tag = "tasks",
    operation_id = "pause_task",
    security(("bearer" = ["write"])),
    params(("task" = String, Path, description = "Its id.")),
    request_body = WishRequest,
    responses((status = 202, description = "Whoever works on it is told.", body = Heard), Problems)
)]
pub async fn pause(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
    Sent(request): Sent<WishRequest>,
) -> Answer {
    let engine = service.engine(&caller);
    let task = whole(&service, &engine, &task).await?;
    engine.ask_to_pause(task, reason(request, "paused", &caller)).await.map_err(|error| service.refuse(error))?;
    heard(task)
}

#[utoipa::path(
    post,
    path = "/v1/tasks/{task}/stop",
    tag = "tasks",
    operation_id = "stop_task",
    security(("bearer" = ["write"])),
    params(("task" = String, Path, description = "Its id.")),
    request_body = WishRequest,
    responses((status = 202, description = "As a pause, until whoever asks says that it goes on.", body = Heard), Problems)
)]
pub async fn stop(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
    Sent(request): Sent<WishRequest>,
) -> Answer {
    let engine = service.engine(&caller);
    let task = whole(&service, &engine, &task).await?;
    engine.ask_to_stop(task, reason(request, "stopped", &caller)).await.map_err(|error| service.refuse(error))?;
    heard(task)
}

#[utoipa::path(
    post,
    path = "/v1/tasks/{task}/resume",
    tag = "tasks",
    operation_id = "resume_task",
    security(("bearer" = ["write"])),
    params(("task" = String, Path, description = "Its id.")),
    responses((status = 202, description = "Whoever works next goes on with it.", body = Heard), Problems)
)]
pub async fn resume(State(service): State<Arc<Service>>, caller: Caller, InPath(task): InPath<String>) -> Answer {
    let engine = service.engine(&caller);
    let task = whole(&service, &engine, &task).await?;
    engine.ask_to_go_on(task).await.map_err(|error| service.refuse(error))?;
    heard(task)
}

#[utoipa::path(
    post,
    path = "/v1/tasks/{task}/cancel",
    tag = "tasks",
    operation_id = "cancel_task",
    security(("bearer" = ["write"])),
    params(("task" = String, Path, description = "Its id.")),
    request_body = WishRequest,
    responses((status = 202, description = "It is to end for good.", body = Heard), Problems)
)]
pub async fn cancel(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
    Sent(request): Sent<WishRequest>,
) -> Answer {
    let engine = service.engine(&caller);
    let task = whole(&service, &engine, &task).await?;
    engine.ask_to_cancel(task, reason(request, "cancelled", &caller)).await.map_err(|error| service.refuse(error))?;
    heard(task)
}

/// The answer to what an agent asks, or words that it hears before its next step, as what they are meant.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task}/messages",
    tag = "tasks",
    operation_id = "send_message",
    security(("bearer" = ["write"])),
    params(("task" = String, Path, description = "Its id.")),
    request_body = MessageRequest,
    responses((status = 202, description = "It is kept, and will be heard.", body = MessageSent), Problems)
)]
pub async fn send(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
    Sent(request): Sent<MessageRequest>,
) -> Result<(StatusCode, Json<MessageSent>), Refusal> {
    let task: TaskId = named("task", &task)?;
    let question = request.request_id.as_deref().map(|id| named("question", id)).transpose()?;
    let engine = service.engine(&caller);
    let sent = match request.kind {
        None => {
            let message = Message { text: request.message, question, by: caller.name.clone() };
            Box::pin(tell(&service, &engine, task, &message)).await?
        }
        Some(MessageWord::Stop) => {
            let whole = whole(&service, &engine, &task.to_string()).await?;
            let wish = WishRequest { reason: request.message };
            let stopped = engine.ask_to_stop(whole, reason(wish, "stopped", &caller)).await;
            stopped.map(|()| Became::Words).map_err(|error| service.refuse(error))?
        }
        Some(kind) => {
            engine.task(task).await.map_err(|error| service.refuse(error))?;
            let text = Some(request.message).filter(|text| !text.trim().is_empty());
            service.house.tell(engine, &caller, Said { task, question, kind: kind_of(kind), text }).await?
        }
    };
    let (injection_type, request_id) = match (sent, request.kind) {
        (Became::Answer(asked), _) => ("hitl_response", Some(asked.request_id.to_string())),
        (_, Some(MessageWord::Interrupt | MessageWord::Stop | MessageWord::Model)) => ("system_control", None),
        (Became::Words | Became::TooLate(_), _) => ("user_message", None),
    };
    let (task_id, injection_type) = (task.to_string(), injection_type.to_owned());
    Ok((StatusCode::ACCEPTED, Json(MessageSent { task_id, injection_type, request_id, kind: request.kind })))
}

const fn kind_of(word: MessageWord) -> MessageKind {
    match word {
        MessageWord::Prompt => MessageKind::Prompt,
        MessageWord::Reply => MessageKind::Reply,
        MessageWord::Resume => MessageKind::Resume,
        MessageWord::Checkpoint => MessageKind::Checkpoint,
        MessageWord::Nudge => MessageKind::Nudge,
        MessageWord::Interrupt => MessageKind::Interrupt,
        MessageWord::Stop => MessageKind::Stop,
        MessageWord::Model => MessageKind::Model,
    }
}

/// Whoever is to hear it. That one of several is done by now is no trouble while others hear it.
async fn tell(service: &Service, engine: &Engine, task: TaskId, message: &Message) -> Result<Became, Refusal> {
    let hearers = engine.hearers(task, message.question).await.map_err(|error| service.refuse(error))?;
    let mut sent = Err(nobody_hears());
    for hearer in hearers {
        match engine.send(hearer, message).await {
            Ok(heard) => sent = Ok(heard),
            Err(Error::TooLate(_) | Error::Over(_)) if sent.is_ok() => {}
            Err(late @ (Error::TooLate(_) | Error::Over(_))) => sent = Err(service.refuse(late)),
            // Those who have heard it would hear it twice.
            Err(error) if sent.is_ok() => return Err(service.refuse(error).perhaps_done()),
            Err(error) => return Err(service.refuse(error)),
        }
    }
    sent
}

fn nobody_hears() -> Refusal {
    Refusal::new(StatusCode::CONFLICT, "nobody_hears", "nobody works on this task who could hear it")
        .hint("answer its card, or resume it; /v1/approvals has what it waits for")
}
