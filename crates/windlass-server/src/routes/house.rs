//! What is there by the operator's configuration: agents, patterns, skills, gates, and the limits of requests.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::Value;
use windlass_api::{GateTried, GateTryRequest, Items, Settings, Whoami};

use crate::ask::Sent;
use crate::auth::Caller;
use crate::port::View;
use crate::problems::{Problems, Refusal, Unfit};
use crate::service::Service;

async fn items(service: &Service, caller: &Caller, view: View) -> Result<Json<Items>, Refusal> {
    let told = service.house.view(service.engine(caller), &caller.tenant, view).await?;
    let items = match told {
        Value::Array(items) => items,
        one => vec![one],
    };
    Ok(Json(Items { items, next: None }))
}

#[utoipa::path(
    get,
    path = "/v1/whoami",
    tag = "server",
    operation_id = "whoami",
    security(("bearer" = ["read"])),
    responses((status = 200, description = "Whose token this is, and what it is good for.", body = Whoami), Problems)
)]
pub async fn whoami(caller: Caller) -> Json<Whoami> {
    let Caller { name, tenant, scopes, .. } = caller;
    Json(Whoami { name, tenant: tenant.to_string(), scopes: scopes.into_iter().collect() })
}

#[utoipa::path(
    get,
    path = "/v1/agents",
    tag = "house",
    operation_id = "list_agents",
    security(("bearer" = ["read"])),
    responses((status = 200, description = "Who may be given work.", body = Items), Problems, Unfit)
)]
pub async fn agents(State(service): State<Arc<Service>>, caller: Caller) -> Result<Json<Items>, Refusal> {
    items(&service, &caller, View::Agents).await
}

#[utoipa::path(
    get,
    path = "/v1/patterns",
    tag = "house",
    operation_id = "list_patterns",
    security(("bearer" = ["read"])),
    responses((status = 200, description = "The kinds of work that agents can be led through step by step.", body = Items), Problems, Unfit)
)]
pub async fn patterns(State(service): State<Arc<Service>>, caller: Caller) -> Result<Json<Items>, Refusal> {
    items(&service, &caller, View::Patterns).await
}

#[utoipa::path(
    get,
    path = "/v1/skills",
    tag = "house",
    operation_id = "list_skills",
    security(("bearer" = ["read"])),
    responses((status = 200, description = "What agents may read up on.", body = Items), Problems, Unfit)
)]
pub async fn skills(State(service): State<Arc<Service>>, caller: Caller) -> Result<Json<Items>, Refusal> {
    items(&service, &caller, View::Skills).await
}

#[utoipa::path(
    get,
    path = "/v1/gates",
    tag = "house",
    operation_id = "list_gates",
    security(("bearer" = ["read"])),
    responses((status = 200, description = "The gates that hold here.", body = Items), Problems, Unfit)
)]
pub async fn gates(State(service): State<Arc<Service>>, caller: Caller) -> Result<Json<Items>, Refusal> {
    items(&service, &caller, View::Gates).await
}

#[utoipa::path(
    post,
    path = "/v1/gates/try",
    tag = "house",
    operation_id = "try_gates",
    security(("bearer" = ["read"])),
    request_body = GateTryRequest,
    responses((status = 200, description = "What the gates here would say to such a call. Nothing is run.", body = GateTried), Problems)
)]
pub async fn try_gates(
    State(service): State<Arc<Service>>,
    _: Caller,
    Sent(request): Sent<GateTryRequest>,
) -> Result<Json<GateTried>, Refusal> {
    Ok(Json(service.house.gates_tried(request)))
}

#[utoipa::path(
    get,
    path = "/v1/settings",
    tag = "house",
    operation_id = "get_settings",
    security(("bearer" = ["read"])),
    responses((status = 200, description = "What the operator has set for one's requests.", body = Settings), Problems)
)]
pub async fn settings(State(service): State<Arc<Service>>, caller: Caller) -> Json<Settings> {
    Json(service.house.settings(&caller.tenant))
}
