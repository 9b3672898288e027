//! Tags on what is read, so that whoever has it already is told so and sent nothing. A tag is the digest of what it is on.

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderValue, Method, StatusCode};
use windlass_domain::Digest;

pub async fn tagged(request: Request, next: Next) -> Response {
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    let known = request.headers().get(IF_NONE_MATCH).cloned();
    let response = next.run(request).await;
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !is_read || !is_json || response.status() != StatusCode::OK {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let bytes = whole(body).await;
    let tag = format!("\"{}\"", Digest::of(&bytes));
    let is_known =
        known.and_then(|known| known.to_str().map(str::to_owned).ok()).is_some_and(|known| names(&known, &tag));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        parts.headers.insert(ETAG, tag);
    }
    if is_known {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(CONTENT_TYPE);
        parts.headers.remove(CONTENT_LENGTH);
        return Response::from_parts(parts, Body::empty());
    }
    Response::from_parts(parts, Body::from(bytes))
}

/// It was made here, and is in memory already.
async fn whole(body: Body) -> Bytes {
    let mut pieces = body.into_data_stream();
    let mut all = Vec::new();
    while let Some(Ok(piece)) = pieces.next().await {
        all.extend_from_slice(&piece);
    }
    all.into()
}

pub fn names(known: &str, tag: &str) -> bool {
    known.split(',').map(|one| one.trim().trim_start_matches("W/")).any(|one| one == "*" || one == tag)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_tag_is_known_however_it_is_said() {
        for known in ["\"a\"", "W/\"a\"", "\"b\", \"a\"", "*"] {
            assert!(names(known, "\"a\""), "{known}");
        }
        assert!(!names("\"ab\", a", "\"a\""));
    }
}
