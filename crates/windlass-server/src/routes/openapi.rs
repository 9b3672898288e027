//! `/openapi.json`: the document that describes every route. Anybody may read it.

use std::sync::LazyLock;

use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;

/// It never changes while the server runs.
static WRITTEN: LazyLock<String> =
    LazyLock::new(|| serde_json::to_string(&crate::openapi::document()).unwrap_or_default());

#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "server",
    security(()),
    responses((status = 200, description = "This document.", body = serde_json::Value))
)]
pub async fn openapi() -> Response {
    ([(CONTENT_TYPE, "application/json")], WRITTEN.as_str()).into_response()
}
