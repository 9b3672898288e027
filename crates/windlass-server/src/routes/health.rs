//! `/v1/health`: whether the server is there, and whether it can read its store. Anybody may ask, and learns nothing else.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use windlass_api::{Health, Standing};
use windlass_domain::BoxFuture;

use crate::problems::{Gone, Refusal};
use crate::service::Service;

pub const HEALTH: &str = "/v1/health";

#[utoipa::path(
    get,
    path = "/v1/health",
    tag = "server",
    security(()),
    responses((status = 200, description = "The server is there.", body = Health), Gone)
)]
pub async fn health(State(service): State<Arc<Service>>) -> Result<Json<Health>, Refusal> {
    // Whoever ends is to be left alone, however its store is.
    if service.draining.has_begun() {
        return Ok(Json(Health { status: Standing::Draining }));
    }
    let engine = service.all.clone();
    let look = || -> BoxFuture<'static, bool> { Box::pin(async move { engine.last_position().await.is_ok() }) };
    match service.pulse.beats(&*service.runtime, look).await {
        true => Ok(Json(Health { status: Standing::Ok })),
        false => Err(Refusal::store_gone()),
    }
}
