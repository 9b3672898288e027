//! Refusals, in a form that the clients of both families understand.
//!
//! Which status ends an agent soonest was tried with the real programs: at 400 all of them stop, while 401, 429 and 500 are asked
//! again by some for minutes. So whatever asking again cannot mend is a 400.

use http::{HeaderValue, Response, StatusCode, header};
use serde_json::json;

use crate::error::Error;
use crate::gateway::Body;
use crate::gateway::body::whole;

/// What asking again cannot mend.
pub const FOR_GOOD: StatusCode = StatusCode::BAD_REQUEST;

pub fn refuse(status: StatusCode, kind: &str, message: &str) -> Response<Body> {
    let body = json!({"type": "error", "error": {"type": kind, "code": kind, "message": message}});
    respond(status, "application/json", body.to_string().into())
}

pub fn respond(status: StatusCode, content_type: &'static str, bytes: bytes::Bytes) -> Response<Body> {
    with_body(status, content_type, whole(bytes))
}

pub fn with_body(status: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// How an agent is told that its model cannot be asked: status, kind and message.
pub fn in_status(error: &Error) -> (StatusCode, &'static str, String) {
    match error {
        // The words by which agents know that they have to shorten the conversation.
        Error::ContextOverflow { .. } => (FOR_GOOD, "context_length_exceeded", format!("prompt is too long: {error}")),
        Error::Unavailable { .. } => (StatusCode::SERVICE_UNAVAILABLE, "overloaded_error", error.to_string()),
        _ => (FOR_GOOD, "invalid_request_error", error.to_string()),
    }
}
