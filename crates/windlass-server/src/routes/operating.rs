//! What is an operator's: the audit, dead letters, metrics.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;
use serde_json::json;
use windlass_api::{AuditVerified, DeadLetterSettled, Items};
use windlass_domain::{MessageId, Tenant};
use windlass_engine::{Fate, StoredMessage};

use crate::ask::{Asked, InPath, PageQuery, named, nothing};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

/// What was allowed, refused and handed over, oldest first. A page may be empty and not be the last.
#[utoipa::path(
    get,
    path = "/v1/audit",
    tag = "operating",
    operation_id = "list_audit",
    security(("bearer" = ["admin"])),
    params(PageQuery),
    responses((status = 200, description = "Events of the audit.", body = Items), Problems)
)]
pub async fn audit(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<Items>, Refusal> {
    let page = query.read::<u64>()?;
    let found = service.engine(&caller).audit_page(page.after.unwrap_or(0), page.limit).await;
    let found = found.map_err(|error| service.refuse(error))?;
    let items = found.records.iter().map(|record| {
        let mut told = json!(record.event);
        told["position"] = json!(record.position.0);
        told["taint"] = json!(record.taint);
        told["created_at"] = json!(record.event.created_at.to_rfc3339());
        told
    });
    Ok(Json(Items { items: items.collect(), next: found.next.map(|next| next.0.to_string()) }))
}

#[utoipa::path(
    get,
    path = "/v1/audit/verification",
    tag = "operating",
    operation_id = "verify_audit",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "Whether the tenant's history is the one that was signed.", body = AuditVerified), Problems)
)]
pub async fn verify_audit(State(service): State<Arc<Service>>, caller: Caller) -> Result<Json<AuditVerified>, Refusal> {
    let engine = service.engine(&caller);
    let (intact, events, finding) = service.house.verify_audit(engine, &caller.tenant).await?;
    Ok(Json(AuditVerified { intact, events, finding }))
}

#[utoipa::path(
    get,
    path = "/v1/dead-letters",
    tag = "operating",
    operation_id = "list_dead_letters",
    security(("bearer" = ["admin"])),
    params(PageQuery),
    responses((status = 200, description = "Messages that no consumer takes any more, newest first.", body = Items), Problems)
)]
pub async fn dead_letters(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<Items>, Refusal> {
    let page = query.read::<MessageId>()?;
    let letters = service.engine(&caller).dead_letters(page.after, page.limit).await;
    let letters = letters.map_err(|error| service.refuse(error))?;
    let next = letters.last().filter(|_| letters.len() == page.limit).map(|last| last.message_id.to_string());
    let items = letters.iter().map(|letter| {
        let StoredMessage { message_id, queue, kind, trace_id, taint, deliveries, .. } = letter;
        json!({
            "message_id": message_id,
            "queue": queue,
            "kind": kind,
            "trace_id": trace_id,
            "taint": taint,
            "enqueued_at": letter.enqueued_at.to_rfc3339(),
            "deliveries": deliveries,
            "reason": letter.died_of(),
        })
    });
    Ok(Json(Items { items: items.collect(), next }))
}

#[utoipa::path(
    post,
    path = "/v1/dead-letters/{letter}/retry",
    tag = "operating",
    operation_id = "retry_dead_letter",
    security(("bearer" = ["admin"])),
    params(("letter" = String, Path, description = "Its message_id.")),
    responses((status = 200, description = "It is in its queue again.", body = DeadLetterSettled), Problems)
)]
pub async fn retry(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Json<DeadLetterSettled>, Refusal> {
    settle(&service, &caller, &name, Fate::Retried).await
}

#[utoipa::path(
    post,
    path = "/v1/dead-letters/{letter}/drop",
    tag = "operating",
    operation_id = "drop_dead_letter",
    security(("bearer" = ["admin"])),
    params(("letter" = String, Path, description = "Its message_id.")),
    responses((status = 200, description = "It is thrown away.", body = DeadLetterSettled), Problems)
)]
pub async fn drop_letter(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Json<DeadLetterSettled>, Refusal> {
    settle(&service, &caller, &name, Fate::Dropped).await
}

async fn settle(
    service: &Service,
    caller: &Caller,
    name: &str,
    fate: Fate,
) -> Result<Json<DeadLetterSettled>, Refusal> {
    let letter: MessageId = named("dead letter", name)?;
    let settled = service.engine(caller).settle_dead_letter(letter, fate).await;
    if !settled.map_err(|error| service.refuse(error))? {
        return Err(nothing("dead letter", name));
    }
    let decision = if fate == Fate::Retried { "retried" } else { "dropped" };
    Ok(Json(DeadLetterSettled { message_id: letter.to_string(), decision: decision.to_owned() }))
}

/// What the whole process does, whosever tasks it works on, for its operator: a token of the tenant `local`.
#[utoipa::path(
    get,
    path = "/v1/metrics",
    tag = "operating",
    operation_id = "metrics",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "For Prometheus.", content_type = "text/plain", body = String), Problems)
)]
pub async fn metrics(State(service): State<Arc<Service>>, caller: Caller) -> Result<Response, Refusal> {
    if caller.tenant != Tenant::local() {
        return Err(Refusal::operators());
    }
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4")], service.house.metrics()).into_response())
}
