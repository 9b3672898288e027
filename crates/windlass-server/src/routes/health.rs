//! `/v1/health`: whether the server is there. Anybody may ask, and learns nothing else.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use windlass_api::{Health, Standing};

use crate::service::Service;

pub const HEALTH: &str = "/v1/health";

#[utoipa::path(
    get,
    path = "/v1/health",
    tag = "server",
    security(()),
    responses((status = 200, description = "The server is there.", body = Health))
)]
pub async fn health(State(service): State<Arc<Service>>) -> Json<Health> {
    let status = if service.draining.has_begun() { Standing::Draining } else { Standing::Ok };
    Json(Health { status })
}
