//! `Idempotency-Key`: whoever asks for the same thing twice under one key is answered twice and heard once. A key is its token's. What
//! broke here (5xx) is no answer to keep: the key is given back, and the same request under it is heard anew, unless what it
//! asked for may have been done.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use windlass_api::PROBLEM_JSON;
use windlass_domain::Digest;
use windlass_engine::{Claim, KeptAnswer};

use super::body::whole;
use crate::auth::Caller;
use crate::problems::{PerhapsDone, Refusal};
use crate::routes::TICKET;
use crate::service::Service;

pub const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
pub const LONGEST_KEY: usize = 255;

pub async fn heard_once(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let key = request.headers().get(KEY).cloned();
    let caller = request.extensions().get::<Caller>().cloned();
    // What is a secret for a moment is not kept for longer.
    let is_secret = request.extensions().get::<MatchedPath>().is_some_and(|path| path.as_str() == TICKET);
    let key = key.filter(|_| !is_secret);
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
            .hint("look whether it was done before you ask for it under another key"));
        }
        Claim::Another => {
            let detail = "another request was made under this `Idempotency-Key`";
            return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "key_reused", detail).hint("choose a new one"));
        }
    }
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    if response.status().is_server_error() {
        if response.extensions().get::<PerhapsDone>().is_none() {
            engine.give_back_request(key).await.map_err(|error| service.refuse(error))?;
        }
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let body = all(body).await;
    let answer = KeptAnswer { status: parts.status.as_u16(), body: String::from_utf8_lossy(&body).into_owned() };
    engine.answer_request(key, &answer).await.map_err(|error| service.refuse(error))?;
    Ok(Response::from_parts(parts, Body::from(body)))
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
