//! What tasks delivered, as it was when it was delivered, and other blobs by their digests. Everything in them is an agent's: it is
//! sent to be kept, never to be shown.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use windlass_api::{Deliverable, DeliverableList, PROBLEM_JSON, Problem};
use windlass_domain::execution::{ExecutionEvent, OwnerEffect};
use windlass_domain::{Digest, TaskId};
use windlass_engine::StoredEvent;

use crate::ask::{Asked, InPath, MayBe as _, PageQuery, named, part_of};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

#[utoipa::path(
    get,
    path = "/v1/tasks/{task}/deliverables",
    tag = "deliverables",
    operation_id = "list_deliverables",
    security(("bearer" = ["read"])),
    params(("task" = String, Path, description = "Its id."), PageQuery),
    responses((status = 200, description = "What it delivered.", body = DeliverableList), Problems)
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<DeliverableList>, Refusal> {
    let task: TaskId = named("task", &task)?;
    let page = query.read::<u64>()?;
    let found = service.engine(&caller).deliveries(task, page.after.unwrap_or(0), page.limit).await;
    let (rows, has_more) = found.map_err(|error| service.refuse(error))?;
    let next = rows.last().filter(|_| has_more).map(|last| last.position.0.to_string());
    Ok(Json(DeliverableList { deliverables: rows.iter().filter_map(delivered).collect(), next }))
}

/// What can be listed was read once already.
fn delivered(row: &StoredEvent) -> Option<Deliverable> {
    let event = ExecutionEvent::decode(&row.kind, row.version, &row.data).ok()?;
    let ExecutionEvent::OwnerEffect(OwnerEffect::Delivered { deliverable, content }) = event else { return None };
    Some(Deliverable {
        path: deliverable.filepath,
        description: deliverable.description,
        digest: content.to_string(),
        bytes: deliverable.size_bytes.unwrap_or(0),
    })
}

/// The bytes of something that was delivered, or of another blob of the caller's tenant.
#[utoipa::path(
    get,
    path = "/v1/blobs/{digest}",
    tag = "deliverables",
    operation_id = "get_blob",
    security(("bearer" = ["read"])),
    params(
        ("digest" = String, Path, description = "As a deliverable or a record names it."),
        ("Range" = Option<String>, Header, description = "One part of it, as `bytes=1024-`."),
        ("If-Range" = Option<String>, Header, description = "The `ETag` of what one has the beginning of."),
    ),
    responses(
        (status = 200, description = "Its bytes, to be kept.", content_type = "application/octet-stream", body = Vec<u8>),
        (status = 206, description = "The part that was asked for.", content_type = "application/octet-stream", body = Vec<u8>),
        (status = 304, description = "It is what one has."),
        (status = 416, description = "There is no such part.", content_type = PROBLEM_JSON, body = Problem),
        Problems
    )
)]
pub async fn blob(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    method: Method,
    asked: HeaderMap,
) -> Result<Response, Refusal> {
    let digest: Digest = named("blob", &name)?;
    let found = service.engine(&caller).blob(digest).await.map_err(|error| service.refuse(error))?;
    let blob = found.or_nothing("blob", &name)?;
    // A blob goes by its digest, and so never changes.
    let mut response = part_of(&method, &asked, &format!("\"{digest}\""), blob.bytes);
    if !response.status().is_success() {
        return Ok(response);
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    Ok(response)
}
