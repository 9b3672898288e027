//! Bodies that bring files: longer than others may be, where files are taken, and only so many at once, so that nobody fills the memory
//! with them. Whoever comes when all places are taken waits for one, and not for ever; nobody has or
//! waits for so many of them that others would wait for them alone.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::future::{Either, select};
use http::StatusCode;
use http::header::CONTENT_LENGTH;
use http_body::Body as _;

use crate::auth::Caller;
use crate::problems::Refusal;
use crate::service::Service;

/// Those for a task, for what is said in a conversation, and for a task that goes on with one.
const TAKE_FILES: [&str; 3] = ["/v1/tasks", "/v1/sessions/{session}/messages", "/v1/commands/decide"];

/// Longer than that nobody waits for a place.
const PATIENCE: Duration = Duration::from_secs(30);

/// This request has a place.
#[derive(Debug, Clone, Copy)]
pub struct Roomy;

fn too_many() -> Refusal {
    let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too_many", "too many bring files at once");
    Refusal { retry_after_seconds: Some(PATIENCE.as_secs()), ..refusal }
}

pub async fn room_for_files(State(service): State<Arc<Service>>, mut request: Request, next: Next) -> Response {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let takes_files = request.extensions().get::<MatchedPath>().is_some_and(|path| TAKE_FILES.contains(&path.as_str()));
    // What says too much is held to what every body may have. What comes piece by piece does not say, and may be as large as any.
    let is_large = match length {
        Some(length) => (service.limits.body + 1..=service.limits.body_with_files).contains(&length),
        None => !request.body().is_end_stream(),
    };
    if !(takes_files && is_large) {
        return next.run(request).await;
    }
    let share = request.extensions().get::<Caller>().map(|caller| service.shares_of_files.take(caller)).transpose();
    let _share = match share {
        Ok(share) => share,
        Err(full) => return full.refused("requests that bring files").into_response(),
    };
    let _place = match select(pin!(service.large_bodies.acquire()), service.runtime.sleep(PATIENCE)).await {
        Either::Left((place, _)) => place,
        Either::Right(_) => return too_many().into_response(),
    };
    request.extensions_mut().insert(Roomy);
    next.run(request).await
}
