//! `Idempotency-Key`: whoever asks for the same thing twice under one key is answered twice and heard once. A key is its token's. What
//! broke here (5xx) is no answer to keep: the key is given back, and the same request under it is heard anew, unless what it
//! asked for may have been done. What was done is answered as it was, whether or not that could be kept.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::{FutureExt as _, StreamExt as _};
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use windlass_api::PROBLEM_JSON;
use windlass_domain::Digest;
use windlass_engine::{Claim, KeptAnswer};

use super::body::whole;
use crate::auth::Caller;
use crate::problems::{PerhapsDone, Refusal};
use crate::routes::{HOOK, TICKET};
use crate::service::Service;

pub const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
pub const LONGEST_KEY: usize = 255;
/// In bytes. It is a record of the journal, which is kept for ever: what was made is in the answer by its id, and what is only shown can be
/// asked for again.
const LONGEST_KEPT: usize = 64 << 10;
const LOOK_FIRST: &str = "look whether it was done before you ask for it under another key";

/// What is a secret for a moment is not kept for longer; and who comes by a path has to sign before anything is kept for them, or told.
pub fn keeps_answers(path: &str) -> bool {
    path != TICKET && path != HOOK
}

pub async fn heard_once(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let key = request.headers().get(KEY).cloned();
    let caller = request.extensions().get::<Caller>().cloned();
    let is_kept = request.extensions().get::<MatchedPath>().is_some_and(|path| keeps_answers(path.as_str()));
    let key = key.filter(|_| is_kept);
    match (request.method(), key, caller) {
        (&Method::POST, Some(key), Some(caller)) => {
            once(&service, &caller, &key, request, next).await.unwrap_or_else(Refusal::into_response)
        }
        _ => next.run(request).await,
    }
}

async fn once(
    service: &Service,
    caller: &Caller,
    key: &HeaderValue,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    if key.is_empty() || key.len() > LONGEST_KEY {
        let detail = format!("`Idempotency-Key` must have 1 to {LONGEST_KEY} characters");
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "bad_key", detail));
    }
    let (parts, body) = request.into_parts();
    let body = whole(body, &parts.extensions, service).await?;
    let asked = Digest::of(parts.method.as_str().as_bytes()).chain(parts.uri.to_string().as_bytes()).chain(&body);
    let key = Digest::of(caller.name.as_bytes()).chain(key.as_bytes());
    let engine = service.engine(caller);
    match engine.claim_request(key, asked).await.map_err(|error| service.refuse(error))? {
        Claim::New => {}
        Claim::Answered(answer) => return Ok(again(answer)),
        Claim::Unanswered => {
            return Err(Refusal::new(
                StatusCode::CONFLICT,
                "unanswered",
                "this request was begun before, and has no answer yet",
            )
            .hint(LOOK_FIRST));
        }
        Claim::Another => {
            let detail = "another request was made under this `Idempotency-Key`";
            return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "key_reused", detail).hint("choose a new one"));
        }
    }
    let answered = AssertUnwindSafe(next.run(Request::from_parts(parts, Body::from(body)))).catch_unwind().await;
    let (becomes, response) = match answered {
        Err(bug) => (Becomes::Kept(broken_off()), Err(bug)),
        Ok(response) => {
            let is_perhaps_done = response.extensions().get::<PerhapsDone>().is_some();
            let (parts, body) = response.into_parts();
            let body = all(body).await;
            let becomes = becomes(parts.status, is_perhaps_done, &body);
            (becomes, Ok(Response::from_parts(parts, Body::from(body))))
        }
    };
    let settled = match becomes {
        Becomes::Claimed => Ok(()),
        Becomes::Free => engine.give_back_request(key).await,
        Becomes::Kept(answer) => engine.answer_request(key, &answer).await,
    };
    // Whoever asked hears what became of it all the same.
    if let Err(error) = settled {
        service.journal.trouble(&format!("the answer to a request with an `Idempotency-Key` is not kept: {error}"));
    }
    response.map_err(|bug| resume_unwind(bug))
}

/// What becomes of a key when its request was answered.
#[derive(Debug, PartialEq, Eq)]
enum Becomes {
    /// The same request is heard anew.
    Free,
    /// Nobody knows whether it was done.
    Claimed,
    /// The same request is answered so.
    Kept(KeptAnswer),
}

fn becomes(status: StatusCode, is_perhaps_done: bool, body: &[u8]) -> Becomes {
    match (status.is_server_error(), is_perhaps_done) {
        (true, true) => Becomes::Claimed,
        (true, false) => Becomes::Free,
        (false, _) if body.len() > LONGEST_KEPT => Becomes::Kept(instead(
            Refusal::new(
                StatusCode::CONFLICT,
                "answer_not_kept",
                "this request was done, and its answer was too long to be kept",
            )
            .hint("ask for what it made; under another key it would be done again"),
        )),
        (false, _) => {
            let body = String::from_utf8_lossy(body).into_owned();
            Becomes::Kept(KeptAnswer { status: status.as_u16(), body })
        }
    }
}

fn broken_off() -> KeptAnswer {
    let detail = "something broke here in the midst of this request";
    instead(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail).hint(LOOK_FIRST))
}

fn instead(refusal: Refusal) -> KeptAnswer {
    KeptAnswer { status: refusal.status.as_u16(), body: refusal.body() }
}

fn again(answer: KeptAnswer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let kind = if status.is_success() { "application/json" } else { PROBLEM_JSON };
    let mut response = (status, answer.body).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

async fn all(body: Body) -> Vec<u8> {
    let mut pieces = body.into_data_stream();
    let mut all = Vec::new();
    while let Some(Ok(piece)) = pieces.next().await {
        all.extend_from_slice(&piece);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_answered_once_more_and_what_was_not_is_heard_anew() {
        let kept = |status: u16, body: &str| Becomes::Kept(KeptAnswer { status, body: body.to_owned() });
        assert_eq!(becomes(StatusCode::ACCEPTED, false, b"{}"), kept(202, "{}"));
        assert_eq!(becomes(StatusCode::NOT_FOUND, false, b"no"), kept(404, "no"));
        assert_eq!(becomes(StatusCode::SERVICE_UNAVAILABLE, false, b"no"), Becomes::Free);
        assert_eq!(becomes(StatusCode::SERVICE_UNAVAILABLE, true, b"no"), Becomes::Claimed);
    }

    /// As JSON in JSON it is longer. Regression: up to 4 MiB of each answer stood in the journal for ever.
    #[test]
    fn of_an_answer_that_is_too_long_to_be_kept_it_is_kept_that_it_was() {
        let fits = "\"".repeat(LONGEST_KEPT);
        let Becomes::Kept(answer) = becomes(StatusCode::OK, false, fits.as_bytes()) else { panic!("it was done") };
        assert_eq!(answer.status, 200);
        assert!(serde_json::to_string(&answer).unwrap().len() < (128 << 10) + 1_000);
        let too_long = "x".repeat(LONGEST_KEPT + 1);
        let Becomes::Kept(answer) = becomes(StatusCode::OK, false, too_long.as_bytes()) else { panic!("it was done") };
        assert_eq!(answer.status, 409);
        assert!(answer.body.contains("answer_not_kept"), "{}", answer.body);
    }

    #[test]
    fn what_broke_in_its_midst_is_not_said_to_be_under_way() {
        let answer = broken_off();
        assert_eq!(answer.status, 500);
        assert!(answer.body.contains(LOOK_FIRST), "{}", answer.body);
    }
}
