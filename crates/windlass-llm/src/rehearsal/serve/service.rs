//! From an HTTP request to the answer that the script has for it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header};
use regex::Regex;
use serde_json::json;
use windlass_domain::{Runtime, Usage};

use crate::answer::{Assembler, Piece};
use crate::dialect::{self, About, Dialect, Request};
use crate::rehearsal::choose::{Choice, Circumstances};
use crate::rehearsal::script::HowItFails;
use crate::rehearsal::serve::body::{self, Reply};
use crate::rehearsal::serve::tries::Tries;
use crate::rehearsal::{Script, play};

const LONGEST_REQUEST: usize = 64 << 20;

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
        let Some(json) = body::read(request.into_body(), LONGEST_REQUEST).await else {
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
        let name = asked.model.strip_prefix(PREFIX).unwrap_or(&asked.model);
        self.play(name, &path, &json, &asked).await.response
    }

    pub fn has_track(&self, name: &str) -> bool {
        self.script.tracks().any(|track| track == name)
    }

    /// What the track has for this request, once its pause is over.
    pub async fn play(&self, name: &str, path: &str, json: &[u8], asked: &Request<'_>) -> Played {
        let Some((name, track)) = self.script.track(&[name]) else {
            let names = self.script.tracks().map(|name| format!("`{PREFIX}{name}`")).collect::<Vec<_>>().join(", ");
            let problem = format!("the model `{}` does not exist; the script has {names}", asked.model);
            return Played::refused(refuse(StatusCode::NOT_FOUND, "model_not_found", &problem, None));
        };
        let counted = (!track.faults_before(asked.turn).is_empty()).then(|| self.tries.of(path, json));
        let attempt = counted.as_ref().map_or(0, |counted| counted.attempt);
        let choice = track.choose(asked.turn, attempt, &Asked(asked));
        match (&counted, choice) {
            (Some(counted), Choice::Fault(..)) => counted.failed(),
            (Some(counted), _) => counted.answered(),
            (None, _) => {}
        }
        let (delay, played) = match choice {
            Choice::OffTheEnd => {
                let problem = format!("the script has nothing for track `{name}` at turn {}", asked.turn);
                let refused = refuse(StatusCode::BAD_REQUEST, "off_script", &problem, None);
                (Duration::ZERO, Played::refused(refused))
            }
            Choice::Line(line) => {
                (line.delay, Played::whole(&play::pieces(line, asked.turn, || asked.tokens()), asked))
            }
            Choice::Fault(fault, line) => match &fault.how {
                HowItFails::Cut { after } => (fault.delay, Played::cut(&play::cut(line, asked.turn, *after), asked)),
                HowItFails::Status { status, message, retry_after } => {
                    let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                    (fault.delay, Played::refused(refuse(status, "rehearsed", message, *retry_after)))
                }
            },
        };
        if !delay.is_zero() {
            self.runtime.sleep(delay).await;
        }
        played
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

/// An answer of the script's, and what it is said to have used.
pub struct Played {
    pub response: Response<Reply>,
    pub usage: Usage,
    pub how: HowPlayed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HowPlayed {
    Whole,
    /// It breaks off, as the script wants it.
    Cut,
    /// There was no answer, only an error.
    Refused,
}

impl Played {
    pub fn whole(pieces: &[Piece], asked: &Request<'_>) -> Self {
        let bill = |piece: &Piece| if let Piece::Usage(usage) = piece { Some(*usage) } else { None };
        let usage = pieces.iter().find_map(bill).unwrap_or_default();
        Self { response: encoded(pieces, asked, Reply::whole), usage, how: HowPlayed::Whole }
    }

    fn cut(pieces: &[Piece], asked: &Request<'_>) -> Self {
        let mut heard = Assembler::default();
        // What is too long to be heard is not said by a script.
        let _ = pieces.iter().try_for_each(|piece| heard.take(piece.clone(), &mut |_| {}));
        let usage = heard.spent(asked.tokens());
        Self { response: encoded(pieces, asked, Reply::torn), usage, how: HowPlayed::Cut }
    }

    fn refused(response: Response<Reply>) -> Self {
        Self { response, usage: Usage::default(), how: HowPlayed::Refused }
    }
}

/// What a script may look at.
struct Asked<'a, 'j>(&'a Request<'j>);

impl Circumstances for Asked<'_, '_> {
    fn request_matches(&self, pattern: &Regex) -> bool {
        let mut all = String::new();
        self.0.each_text(|text| {
            all.push_str(text);
            all.push('\n');
        });
        pattern.is_match(&all)
    }

    fn last_result_matches(&self, pattern: &Regex) -> bool {
        self.0.last_result().is_some_and(|result| pattern.is_match(&result))
    }
}

fn encoded(pieces: &[Piece], asked: &Request<'_>, reply: fn(Bytes) -> Reply) -> Response<Reply> {
    let name = format!("rehearsal_{}", asked.turn);
    let about = About { model: asked.model.clone(), name, wants_usage: asked.wants_usage, folders: asked.folders() };
    match asked.stream {
        true => {
            respond(StatusCode::OK, "text/event-stream", reply(dialect::stream(asked.dialect, pieces, about).into()))
        }
        false => {
            respond(StatusCode::OK, "application/json", reply(dialect::whole(asked.dialect, pieces, &about).into()))
        }
    }
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
