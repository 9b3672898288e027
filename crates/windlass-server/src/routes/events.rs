//! `/v1/events`: everything that happens, as it happens; and what happens elsewhere, told by those who sign it.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use subtle::ConstantTimeEq as _;
use utoipa::IntoParams;
use windlass_api::EventHeard;
use windlass_domain::coordinate::{Channel, Origin, Trigger, Triggered};
use windlass_domain::{Digest, SessionId, Taint, TaskId, Wall};
use windlass_engine::{Heeded, Means};

use super::sessions::known;
use crate::ask::{Asked, InPath, named, nothing, own_name, whole_body};
use crate::auth::{Caller, hmac_sha256};
use crate::events::{EventsQuery, Only, stream};
use crate::port::Hook;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

/// How old or how early what is signed may be.
const WINDOW: Duration = Duration::from_secs(300);
const LONGEST_PAYLOAD: usize = 32 << 10;
/// Whose path stands for a token.
pub const HOOK: &str = "/v1/hooks/{path}";

/// Every record of the caller's tenant, as server-sent events whose ids are positions: whoever was away names the last one they saw
/// and misses nothing.
#[utoipa::path(
    get,
    path = "/v1/events",
    tag = "events",
    operation_id = "watch",
    security(("bearer" = ["read"])),
    params(EventsQuery, ("Last-Event-ID" = Option<String>, Header, description = "The last one that was seen.")),
    responses((status = 200, description = "Server-sent events.", content_type = "text/event-stream", body = String), Problems)
)]
pub async fn watch(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Asked(query): Asked<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    stream(Arc::clone(&service), &caller, &headers, &query, Only::All).await
}

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ForWhom {
    /// The task that is to hear of it.
    pub task: Option<String>,
    /// Or the conversation whose open tasks are.
    pub session: Option<String>,
}

/// Tells a task, or the open tasks of a conversation, that something happened elsewhere. What is told is signed by its source:
/// `X-Windlass-Signature: sha256=` and the HMAC-SHA256, in hexadecimal digits, of the timestamp, a full stop and the body, with
/// `X-Windlass-Timestamp` in seconds. It is external, whatever it says, and heard once. Where nobody would hear it nothing is kept, and
/// the same telling may come again.
#[utoipa::path(
    post,
    path = "/v1/events/{source}",
    tag = "events",
    operation_id = "tell_event",
    security(("bearer" = ["write"])),
    params(
        ("source" = String, Path, description = "As the operator has named it."),
        ForWhom,
        ("X-Windlass-Timestamp" = Option<String>, Header, description = "Seconds since 1970."),
        ("X-Windlass-Signature" = Option<String>, Header, description = "sha256=…"),
    ),
    request_body(content = serde_json::Value, description = "What happened."),
    responses((status = 202, description = "It is kept, and will be heard.", body = EventHeard), Problems)
)]
pub async fn tell(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(source): InPath<String>,
    Asked(whom): Asked<ForWhom>,
    request: Request,
) -> Result<(StatusCode, Json<EventHeard>), Refusal> {
    let key = service.house.webhook_key(&caller.tenant, &source).ok_or_else(|| nothing("source of events", &source))?;
    let (parts, body) = request.into_parts();
    let body = whole_body(body, &parts.extensions, &service).await?;
    if body.len() > LONGEST_PAYLOAD {
        let detail = format!("what happened takes more than {LONGEST_PAYLOAD} bytes to say");
        return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail));
    }
    let signature = signed(&parts.headers, &body, key.expose(), service.runtime.wall())?;
    let payload = std::str::from_utf8(&body)
        .map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "bad_body", "what happened is not text"))?;
    let trigger = whom.trigger(&caller, &source, &signature, payload)?;
    heed(&service, &caller, &whom, &trigger).await
}

/// The same for those who can bear no token: the path is a secret between them and the operator, and the body is signed as GitHub and
/// others do, by `X-Hub-Signature-256`. Of what is longer than an agent need hear the beginning is told.
#[utoipa::path(
    post,
    path = HOOK,
    tag = "events",
    operation_id = "tell_by_hook",
    security(("hook" = [])),
    params(
        ("path" = String, Path, description = "The one that the operator has chosen."),
        ForWhom,
        ("X-GitHub-Event" = Option<String>, Header, description = "What kind of event it is; told with it."),
    ),
    request_body(content = serde_json::Value, description = "What happened."),
    responses((status = 202, description = "It is kept, and will be heard.", body = EventHeard), Problems)
)]
pub async fn tell_by_hook(
    State(service): State<Arc<Service>>,
    InPath(path): InPath<String>,
    Asked(whom): Asked<ForWhom>,
    request: Request,
) -> Result<(StatusCode, Json<EventHeard>), Refusal> {
    // Somebody with a token is nobody who is known by it.
    let hook = request.extensions().get::<Hook>().cloned().ok_or_else(|| nothing("webhook", &path))?;
    let caller = Caller::hooked(&hook, &path);
    let (parts, body) = request.into_parts();
    let body = whole_body(body, &parts.extensions, &service).await?;
    let signature = hmac_sha256(hook.key.expose().as_bytes(), &body);
    let said = parts.headers.get("x-hub-signature-256").and_then(|said| said.to_str().ok()?.strip_prefix("sha256="));
    if !said.is_some_and(|said| is_written(said, &signature)) {
        return Err(unsigned("sign the body with the key that the operator has, as `X-Hub-Signature-256: sha256=…`"));
    }
    let payload = std::str::from_utf8(&body)
        .map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "bad_body", "what happened is not text"))?;
    let kind = parts.headers.get("x-github-event").and_then(|kind| kind.to_str().ok());
    let trigger = whom.trigger(&caller, &hook.source, &signature, &with_its_kind(kind, payload))?;
    heed(&service, &caller, &whom, &trigger).await
}

/// Its beginning, where it is long; and what kind of event its sender says it is, which is no more to be believed than the rest.
fn with_its_kind(kind: Option<&str>, payload: &str) -> String {
    let plain = |kind: &&str| kind.len() <= 64 && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let kind = kind.filter(plain).map(|kind| format!("{kind} ")).unwrap_or_default();
    match payload.floor_char_boundary(LONGEST_PAYLOAD) {
        end if end < payload.len() => {
            format!("{kind}{}… (the first {end} of {} bytes)", &payload[..end], payload.len())
        }
        _ => format!("{kind}{payload}"),
    }
}

/// Tells it to whoever is meant.
async fn heed(
    service: &Service,
    caller: &Caller,
    whom: &ForWhom,
    trigger: &Trigger,
) -> Result<(StatusCode, Json<EventHeard>), Refusal> {
    if let Some(name) = &whom.session {
        known(service, caller, name).await?;
    }
    let engine = service.engine(caller);
    match engine.trigger(trigger, Means::default()).await.map_err(|error| service.refuse(error))? {
        Heeded::Told(tasks) => {
            let tasks = tasks.iter().map(ToString::to_string).collect();
            Ok((StatusCode::ACCEPTED, Json(EventHeard { tasks })))
        }
        _ => Err(Refusal::new(StatusCode::CONFLICT, "told_before", "this was told before, and is heard once")),
    }
}

impl ForWhom {
    /// What it asks of the coordinator, which does all of it in one commit: what is refused, or lost in a crash, can be told again.
    fn trigger(&self, caller: &Caller, source: &str, signature: &[u8; 32], payload: &str) -> Result<Trigger, Refusal> {
        let (task_id, session_id) = match (&self.task, &self.session) {
            (Some(task), None) => (Some(own_name(named::<TaskId>("task", task)?)), None),
            (None, Some(session)) => (None, Some(own_name(named::<SessionId>("session", session)?))),
            _ => return Err(Refusal::new(StatusCode::BAD_REQUEST, "bad_query", "say either `task` or `session`")),
        };
        // The signature is over the time, so that the same one is the same telling.
        let telling = Digest::of(b"webhook").chain(source.as_bytes()).chain(signature);
        let origin = Origin { by: caller.name.clone(), channel: Channel::Http, taint: Taint::External };
        let what = Triggered::ExternalEvent { payload: payload.to_owned(), task_id };
        Ok(Trigger { trigger_id: own_name(telling), origin, session_id, what })
    }
}

/// The signature, if it is this very body's and not old.
fn signed(headers: &HeaderMap, body: &[u8], key: &str, now: Wall) -> Result<[u8; 32], Refusal> {
    let unsigned = || unsigned("sign the timestamp, a full stop and the body, with the key that the operator has");
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let timestamp = said("x-windlass-timestamp").ok_or_else(unsigned)?;
    let seconds: u64 = timestamp.parse().map_err(|_| unsigned())?;
    let at = Wall::from_millis(seconds.saturating_mul(1_000));
    if now.since(at) > WINDOW || at.since(now) > WINDOW {
        return Err(Refusal::new(
            StatusCode::UNAUTHORIZED,
            "too_old",
            "this was signed more than five minutes from now",
        ));
    }
    let signature = said("x-windlass-signature").and_then(|said| said.strip_prefix("sha256=")).ok_or_else(unsigned)?;
    let mut message = timestamp.as_bytes().to_vec();
    message.push(b'.');
    message.extend_from_slice(body);
    let expected = hmac_sha256(key.as_bytes(), &message);
    match is_written(signature, &expected) {
        true => Ok(expected),
        false => Err(unsigned()),
    }
}

fn unsigned(hint: &str) -> Refusal {
    Refusal::new(StatusCode::UNAUTHORIZED, "bad_signature", "this is not signed as its source signs").hint(hint)
}

/// In hexadecimal digits.
fn is_written(said: &str, signature: &[u8; 32]) -> bool {
    let written: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
    bool::from(written.as_bytes().ct_eq(said.to_ascii_lowercase().as_bytes()))
}

/// What stands in the path of a hook.
pub fn hooked(path: &str) -> Option<&str> {
    path.strip_prefix("/v1/hooks/")
}
