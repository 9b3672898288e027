//! From an HTTP request to the answer that the script has for it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header};
use serde_json::json;
use windlass_domain::Runtime;

use crate::answer::Piece;
use crate::rehearsal::choose::Choice;
use crate::rehearsal::script::HowItFails;
use crate::rehearsal::serve::body::{self, Reply};
use crate::rehearsal::serve::request::{Dialect, Request};
use crate::rehearsal::serve::spoken::About;
use crate::rehearsal::serve::tries::Tries;
use crate::rehearsal::serve::{chat, messages, responses};
use crate::rehearsal::{Script, play};

/// What a model is called here: this, and the name of its track.
const PREFIX: &str = "rehearsal/";

pub struct Service {
    script: Arc<Script>,
    runtime: Arc<dyn Runtime>,
    tries: Tries,
}

impl Service {
    pub fn new(script: Arc<Script>, runtime: Arc<dyn Runtime>) -> Self {
        Self { script, runtime, tries: Tries::default() }
    }

    pub async fn answer(&self, request: http::Request<hyper::body::Incoming>) -> Response<Reply> {
        let path = request.uri().path().to_owned();
        let endpoint = path.strip_prefix("/v1").unwrap_or(&path);
        let dialect = match (request.method(), endpoint) {
            (&Method::GET, "/models") => return self.models(),
            (&Method::POST, "/chat/completions") => Dialect::Chat,
            (&Method::POST, "/responses") => Dialect::Responses,
            (&Method::POST, "/messages" | "/messages/count_tokens") => Dialect::Messages,
            _ => return refuse(StatusCode::NOT_FOUND, "not_found", "there is nothing at this address", None),
        };
        let Some(json) = body::read(request.into_body()).await else {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", "the request is too long", None);
        };
        let Ok(asked) = Request::read(dialect, &json) else {
            return refuse(
                StatusCode::BAD_REQUEST,
                "invalid_request",
                "the request is not what this address takes",
                None,
            );
        };
        if endpoint.ends_with("/count_tokens") {
            return whole_json(&json!({"input_tokens": asked.tokens()}));
        }
        self.play(&path, &json, &asked).await
    }

    async fn play(&self, path: &str, json: &[u8], asked: &Request<'_>) -> Response<Reply> {
        let name = asked.model.strip_prefix(PREFIX).unwrap_or(&asked.model);
        let Some((name, track)) = self.script.track(&[name]) else {
            let names = self.script.tracks().map(|name| format!("`{PREFIX}{name}`")).collect::<Vec<_>>().join(", ");
            let problem = format!("the model `{}` does not exist; the script has {names}", asked.model);
            return refuse(StatusCode::NOT_FOUND, "model_not_found", &problem, None);
        };
        let counted = (!track.faults_before(asked.turn).is_empty()).then(|| self.tries.of(path, json));
        let attempt = counted.as_ref().map_or(0, |counted| counted.attempt);
        let choice = track.choose(asked.turn, attempt, asked);
        match (&counted, choice) {
            (Some(counted), Choice::Fault(..)) => counted.failed(),
            (Some(counted), _) => counted.answered(),
            (None, _) => {}
        }
        let (delay, response) = match choice {
            Choice::OffTheEnd => {
                let problem = format!("the script has nothing for track `{name}` at turn {}", asked.turn);
                (Duration::ZERO, refuse(StatusCode::BAD_REQUEST, "off_script", &problem, None))
            }
            Choice::Line(line) => {
                let pieces = play::pieces(line, asked.turn, || asked.tokens());
                (line.delay, encoded(&pieces, asked, Reply::whole))
            }
            Choice::Fault(fault, line) => match &fault.how {
                HowItFails::Cut { after } => {
                    (fault.delay, encoded(&play::cut(line, asked.turn, *after), asked, Reply::torn))
                }
                HowItFails::Status { status, message, retry_after } => {
                    let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                    (fault.delay, refuse(status, "rehearsed", message, *retry_after))
                }
            },
        };
        if !delay.is_zero() {
            self.runtime.sleep(delay).await;
        }
        response
    }

    fn models(&self) -> Response<Reply> {
        let model = |name: &str| {
            json!({
                "id": format!("{PREFIX}{name}"), "object": "model", "type": "model", "created": 0, "owned_by": "rehearsal",
                "display_name": name,
            })
        };
        let data = self.script.tracks().map(model).collect::<Vec<_>>();
        whole_json(&json!({"object": "list", "data": data, "has_more": false}))
    }
}

fn encoded(pieces: &[Piece], asked: &Request<'_>, reply: fn(Bytes) -> Reply) -> Response<Reply> {
    let about = About { model: &asked.model, turn: asked.turn, wants_usage: asked.wants_usage };
    let bytes = match (asked.dialect, asked.stream) {
        (Dialect::Chat, true) => chat::stream(pieces, about),
        (Dialect::Chat, false) => chat::whole(pieces, about),
        (Dialect::Responses, true) => responses::stream(pieces, about),
        (Dialect::Responses, false) => responses::whole(pieces, about),
        (Dialect::Messages, true) => messages::stream(pieces, about),
        (Dialect::Messages, false) => messages::whole(pieces, about),
    };
    let content_type = if asked.stream { "text/event-stream" } else { "application/json" };
    respond(StatusCode::OK, content_type, reply(bytes.into()))
}

fn respond(status: StatusCode, content_type: &'static str, reply: Reply) -> Response<Reply> {
    let mut response = Response::new(reply);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn whole_json(value: &serde_json::Value) -> Response<Reply> {
    respond(StatusCode::OK, "application/json", Reply::whole(value.to_string().into()))
}

/// In a form that both families' clients understand.
fn refuse(status: StatusCode, kind: &str, message: &str, retry_after: Option<Duration>) -> Response<Reply> {
    let body = json!({"type": "error", "error": {"type": kind, "code": kind, "message": message}});
    let mut response = respond(status, "application/json", Reply::whole(body.to_string().into()));
    if let Some(pause) = retry_after {
        let seconds = pause.as_millis().div_ceil(1000);
        response.headers_mut().insert(header::RETRY_AFTER, number(seconds));
        response.headers_mut().insert("retry-after-ms", number(pause.as_millis()));
    }
    response
}

fn number(number: u128) -> HeaderValue {
    HeaderValue::from_str(&number.to_string()).expect("digits are a header value")
}
