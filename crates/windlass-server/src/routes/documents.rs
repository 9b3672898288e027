//! `/v1/documents/check`: what a plan, a goal or a pattern that somebody is writing means, or everything that is wrong with it. Nothing is
//! begun and nothing is kept.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use windlass_api::{CheckRequest, Checked};

use crate::ask::Sent;
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

#[utoipa::path(
    post,
    path = "/v1/documents/check",
    tag = "house",
    operation_id = "check_document",
    security(("bearer" = ["read"])),
    request_body = CheckRequest,
    responses((status = 200, description = "What it says, or what is wrong with it.", body = Checked), Problems)
)]
pub async fn check(
    State(service): State<Arc<Service>>,
    _: Caller,
    Sent(request): Sent<CheckRequest>,
) -> Result<Json<Checked>, Refusal> {
    Ok(Json(service.house.checked(&request)))
}
