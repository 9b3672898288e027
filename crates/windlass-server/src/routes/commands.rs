//! `/v1/commands`: commands of the program `windlass`, for that program at another machine. What each may do is said by where it is
//! asked for: looking, asking for work, deciding and operating want a scope each, and none of them takes another's commands.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use windlass_api::{CommandRequest, CommandTold, Scope};

use crate::ask::Sent;
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

async fn carried_out(
    service: &Service,
    caller: &Caller,
    scope: Scope,
    request: CommandRequest,
) -> Result<Json<CommandTold>, Refusal> {
    let engine = service.engine(caller);
    Ok(Json(service.house.command(engine, caller, scope, request.command).await?))
}

/// A command that only looks.
#[utoipa::path(
    post,
    path = "/v1/commands/look",
    tag = "commands",
    operation_id = "command_look",
    security(("bearer" = ["read"])),
    request_body = CommandRequest,
    responses((status = 200, description = "What it says.", body = CommandTold), Problems)
)]
pub async fn look(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Sent(request): Sent<CommandRequest>,
) -> Result<Json<CommandTold>, Refusal> {
    carried_out(&service, &caller, Scope::Read, request).await
}

/// A command that says something to work, stops it or ends it.
#[utoipa::path(
    post,
    path = "/v1/commands/ask",
    tag = "commands",
    operation_id = "command_ask",
    security(("bearer" = ["write"])),
    request_body = CommandRequest,
    responses((status = 200, description = "What it says.", body = CommandTold), Problems)
)]
pub async fn ask(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Sent(request): Sent<CommandRequest>,
) -> Result<Json<CommandTold>, Refusal> {
    carried_out(&service, &caller, Scope::Write, request).await
}

/// A command that says yes or no.
#[utoipa::path(
    post,
    path = "/v1/commands/decide",
    tag = "commands",
    operation_id = "command_decide",
    security(("bearer" = ["approve"])),
    request_body = CommandRequest,
    responses((status = 200, description = "What it says.", body = CommandTold), Problems)
)]
pub async fn decide(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Sent(request): Sent<CommandRequest>,
) -> Result<Json<CommandTold>, Refusal> {
    carried_out(&service, &caller, Scope::Approve, request).await
}

/// A command of an operator's.
#[utoipa::path(
    post,
    path = "/v1/commands/operate",
    tag = "commands",
    operation_id = "command_operate",
    security(("bearer" = ["admin"])),
    request_body = CommandRequest,
    responses((status = 200, description = "What it says.", body = CommandTold), Problems)
)]
pub async fn operate(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Sent(request): Sent<CommandRequest>,
) -> Result<Json<CommandTold>, Refusal> {
    carried_out(&service, &caller, Scope::Admin, request).await
}
