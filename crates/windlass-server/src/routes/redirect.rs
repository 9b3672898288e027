//! `/v1/tasks/{task}/redirect`: changing what was agreed on while it is worked on. What is wanted is said with fields, or in a person's own
//! words, for which a planner then looks for the change; nothing changes before somebody was shown what it comes to and says so.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde_json::{Value, json};
use windlass_api::{RedirectRequest, RedirectShown};
use windlass_domain::approval::Strength;
use windlass_domain::graph::Change;
use windlass_domain::task::Part;
use windlass_domain::{Digest, Taint, TaskId};
use windlass_engine::{Engine, Preview, Suggested, Wanted};

use super::task_control::whole;
use crate::ask::{InPath, Sent, named, nothing};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

/// Changes what was agreed on while it is worked on. Without `confirmed` it only shows what would be. `words` send a planner to look for the
/// change that they ask for: it is named in the answer, and is said as `planner` once it has ended, first to see what it found and then,
/// `confirmed`, to have it so.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task}/redirect",
    tag = "tasks",
    operation_id = "redirect_task",
    security(("bearer" = ["approve"])),
    params(("task" = String, Path, description = "Its id.")),
    request_body = RedirectRequest,
    responses(
        (status = 200, description = "What it comes to, or came to.", body = RedirectShown),
        (status = 202, description = "A planner looks for it.", body = RedirectShown),
        Problems
    )
)]
pub async fn redirect(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
    Sent(request): Sent<RedirectRequest>,
) -> Result<(StatusCode, Json<RedirectShown>), Refusal> {
    let engine = service.engine(&caller);
    let task = whole(&service, &engine, &task).await?;
    let meant = match said(&request)? {
        Said::Words(words) => {
            let planner = Box::pin(engine.ask_for_change(task, words)).await.map_err(|error| service.refuse(error))?;
            return Ok((StatusCode::ACCEPTED, Json(sought(task, planner, words))));
        }
        Said::Planner(planner) => found(&service, &engine, task, planner).await?,
        Said::Change => {
            let graph = engine.graph(task).await.map_err(|error| service.refuse(error))?;
            let (change, described) = service.house.change(&request.change, &graph)?;
            Meant { change, described, planner: None }
        }
    };
    Ok((StatusCode::OK, Json(Box::pin(shown((&service, &caller), &engine, task, meant, &request)).await?)))
}

enum Said<'a> {
    Change,
    Words(&'a str),
    Planner(&'a str),
}

fn said(request: &RedirectRequest) -> Result<Said<'_>, Refusal> {
    let has_change = !matches!(&request.change, Value::Null);
    match (has_change, &request.words, &request.planner) {
        (_, None, None) => Ok(Said::Change),
        (false, Some(_), None) if request.confirmed => {
            Err(Refusal::unfit("nobody has seen yet what these words come to, and they cannot be confirmed")
                .hint("leave out `confirmed`; say it with the `planner` that the answer names"))
        }
        (false, Some(words), None) => Ok(Said::Words(words)),
        (false, None, Some(planner)) => Ok(Said::Planner(planner)),
        _ => Err(Refusal::unfit("it is said in more than one way, and only one of them can be meant")
            .hint("say `change`, `words` or `planner`")),
    }
}

fn sought(task: TaskId, planner: TaskId, words: &str) -> RedirectShown {
    RedirectShown {
        task_id: task.to_string(),
        redirected: false,
        planner: Some(planner.to_string()),
        message: None,
        description: words.trim().to_owned(),
        changes: Vec::new(),
        risk_level: None,
        interrupted: 0,
        undone: Vec::new(),
        worst_case: Value::Null,
        seen: None,
    }
}

struct Meant {
    change: Change,
    described: String,
    /// Who worked it out, what it says about it, and what it had read.
    planner: Option<(TaskId, String, Taint)>,
}

async fn found(service: &Service, engine: &Engine, task: TaskId, name: &str) -> Result<Meant, Refusal> {
    let planner: TaskId = named("planner", name)?;
    let state = engine.task(planner).await.map_err(|error| service.refuse(error))?;
    let of = state.created.as_ref().and_then(|created| created.part_of.as_ref());
    if !of.is_some_and(|of| of.root == task && matches!(of.part, Part::Correction { .. })) {
        return Err(nothing("planner", name));
    }
    if !state.is_over() {
        return Err(Refusal::new(StatusCode::CONFLICT, "thinking", "the planner has not ended")
            .hint(format!("ask again when task {planner} has")));
    }
    let suggested = Box::pin(engine.suggested(planner)).await.map_err(|error| service.refuse(error))?;
    let Suggested { change, described, message, taint } = suggested.map_err(|none| {
        Refusal::unfit(none.message).hint("nothing was changed; say it in other words, or with `change`")
    })?;
    Ok(Meant { change, described, planner: Some((planner, message, taint)) })
}

async fn shown(
    (service, caller): (&Service, &Caller),
    engine: &Engine,
    task: TaskId,
    meant: Meant,
    request: &RedirectRequest,
) -> Result<RedirectShown, Refusal> {
    let refuse = |error| service.refuse(error);
    let Meant { change, described, planner } = meant;
    let note = request.note.trim();
    let preview = Box::pin(engine.preview_redirect(task, &change)).await.map_err(refuse)?;
    let graph = engine.graph(task).await.map_err(refuse)?;
    let description = if note.is_empty() { described } else { note.to_owned() };
    let changes = service.house.differences(&change, &graph);
    let seen = seen(&(&change, &preview, &description, &changes), graph.corrections.len());
    let is_same = preview.is_of(&graph) && request.seen.as_ref().is_none_or(|said| *said == seen);
    if request.confirmed && !is_same {
        return Err(Refusal::new(StatusCode::CONFLICT, "changed", "something happened since it was shown")
            .hint("look at it once more: say the same without `confirmed`"));
    }
    service.house.may_redirect(&caller.tenant, &change, preview.was, preview.worst_case)?;
    let mut shown = RedirectShown {
        task_id: task.to_string(),
        redirected: request.confirmed,
        planner: planner.as_ref().map(|(planner, ..)| planner.to_string()),
        message: planner.as_ref().map(|(_, message, _)| message.clone()),
        description,
        changes,
        risk_level: json!(preview.risk_level).as_str().map(str::to_owned),
        interrupted: preview.interrupted,
        undone: preview.undone.iter().map(ToString::to_string).collect(),
        worst_case: json!(preview.worst_case),
        seen: Some(seen),
    };
    if request.confirmed {
        let key = service.house.owner_key()?;
        let taint = planner.map(|(_, _, taint)| taint);
        let wanted = Wanted { change, description: &shown.description, taint };
        let done = Box::pin(engine.redirect(task, wanted, Some(&preview), (&key, Strength::Confirmed))).await;
        shown.interrupted = done.map_err(refuse)?.interrupted;
    }
    Ok(shown)
}

/// Stands for what was shown, as long as nothing has happened that it depends on.
fn seen(
    (change, preview, description, changes): &(&Change, &Preview, &String, &Vec<String>),
    corrections: usize,
) -> String {
    let Preview { undone, risk_level, .. } = preview;
    Digest::of(json!([change, corrections, undone, risk_level, description, changes]).to_string().as_bytes())
        .to_string()
}
