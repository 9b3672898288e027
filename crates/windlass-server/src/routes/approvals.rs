//! `/v1/approvals`: cards that want a yes or no. A yes is signed; high and irreversible risk wants a second step.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::json;
use windlass_api::{Approval, ApprovalAnswered, ApprovalList, ApproveRequest, RefuseRequest};
use windlass_domain::approval::{Answer, ApprovalState, Card, CardId, Strength, Verdict};
use windlass_domain::{Taint, Wall};
use windlass_engine::Asked as Asking;

use super::decisions::decision;
use super::whose::Askers;

use crate::ask::{Asked, InPath, MayBe as _, PageQuery, Place, Sent, listed, named};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

#[utoipa::path(
    get,
    path = "/v1/approvals",
    tag = "approvals",
    operation_id = "list_approvals",
    security(("bearer" = ["read"])),
    params(PageQuery),
    responses((status = 200, description = "The open cards, oldest first.", body = ApprovalList), Problems)
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<ApprovalList>, Refusal> {
    let page = query.read::<Place>()?;
    let engine = service.engine(&caller);
    let open = engine.cards().await.map_err(|error| service.refuse(error))?;
    let place = |asked: &Asking| Place { millis: asked.at.as_millis(), name: asked.card.card_id.to_string() };
    let (open, next) = listed(open.into_iter().map(|asked| (place(&asked), asked)), &page);
    let (mut approvals, mut askers) = (Vec::with_capacity(open.len()), Askers::default());
    for Asking { card, task, at } in open {
        let whose = askers.whose(&engine, task).await.map_err(|error| service.refuse(error))?;
        approvals.push(Approval {
            task_id: Some(task.to_string()),
            standing: "open".to_owned(),
            asked_at: Some(at.to_rfc3339()),
            expires_at: Some(card.expires_at.to_rfc3339()),
            whose,
            decision: None,
            card: json!(card),
        });
    }
    Ok(Json(ApprovalList { approvals, next }))
}

#[utoipa::path(
    get,
    path = "/v1/approvals/{card}",
    tag = "approvals",
    operation_id = "get_approval",
    security(("bearer" = ["read"])),
    params(("card" = String, Path, description = "Its card_id.")),
    responses((status = 200, description = "The card, and how it stands.", body = Approval), Problems)
)]
pub async fn get(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Json<Approval>, Refusal> {
    let card: CardId = named("card", &name)?;
    let engine = service.engine(&caller);
    let (state, task) = engine.card(card).await.map_err(|error| service.refuse(error))?;
    let answer = engine.card_answer(card).await.map_err(|error| service.refuse(error))?;
    let whose = match task {
        Some(task) => Askers::default().whose(&engine, task).await.map_err(|error| service.refuse(error))?,
        None => None,
    };
    let (standing, card) = stands(state).or_nothing("card", &name)?;
    Ok(Json(Approval {
        task_id: task.map(|task| task.to_string()),
        standing: standing.to_owned(),
        asked_at: answer.as_ref().map(|told| told.asked_at).map(Wall::to_rfc3339),
        expires_at: Some(card.expires_at.to_rfc3339()),
        whose,
        decision: answer.and_then(|told| told.answer).map(|(decided, at)| decision(decided, at)),
        card: json!(card),
    }))
}

fn stands(state: ApprovalState) -> Option<(&'static str, Box<Card>)> {
    Some(match state {
        ApprovalState::Absent => return None,
        ApprovalState::Requested { card } => ("open", card),
        ApprovalState::Decided { card, .. } => ("decided", card),
        ApprovalState::Refused { card, .. } => ("refused", card),
        ApprovalState::Issued { card, .. } => ("issued", card),
        ApprovalState::Expired { card } => ("expired", card),
        ApprovalState::Withdrawn { card, .. } => ("withdrawn", card),
    })
}

#[utoipa::path(
    post,
    path = "/v1/approvals/{card}/approve",
    tag = "approvals",
    operation_id = "approve",
    security(("bearer" = ["approve"])),
    params(("card" = String, Path, description = "Its card_id.")),
    request_body = ApproveRequest,
    responses((status = 200, description = "The yes is signed, and heard.", body = ApprovalAnswered), Problems)
)]
pub async fn approve(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(card): InPath<String>,
    Sent(request): Sent<ApproveRequest>,
) -> Result<Json<ApprovalAnswered>, Refusal> {
    let verdict = if request.conditions.is_empty() { Verdict::Approved } else { Verdict::Conditional };
    let approval_strength = if request.confirmed { Strength::Confirmed } else { Strength::Explicit };
    let by = caller.name.clone();
    let (conditions, note) = (request.conditions, request.note);
    let answer = Answer { verdict, by, approval_strength, conditions, note, taint: Taint::Auth };
    give(&service, &caller, &card, answer).await
}

#[utoipa::path(
    post,
    path = "/v1/approvals/{card}/decline",
    tag = "approvals",
    operation_id = "decline",
    security(("bearer" = ["approve"])),
    params(("card" = String, Path, description = "Its card_id.")),
    request_body = RefuseRequest,
    responses((status = 200, description = "The no is heard.", body = ApprovalAnswered), Problems)
)]
pub async fn decline(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(card): InPath<String>,
    Sent(request): Sent<RefuseRequest>,
) -> Result<Json<ApprovalAnswered>, Refusal> {
    give(&service, &caller, &card, no(&caller, Verdict::Declined, request)).await
}

#[utoipa::path(
    post,
    path = "/v1/approvals/{card}/edit",
    tag = "approvals",
    operation_id = "send_back",
    security(("bearer" = ["approve"])),
    params(("card" = String, Path, description = "Its card_id.")),
    request_body = RefuseRequest,
    responses((status = 200, description = "It is to be done otherwise, as the note says.", body = ApprovalAnswered), Problems)
)]
pub async fn edit(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(card): InPath<String>,
    Sent(request): Sent<RefuseRequest>,
) -> Result<Json<ApprovalAnswered>, Refusal> {
    give(&service, &caller, &card, no(&caller, Verdict::EditRequested, request)).await
}

fn no(caller: &Caller, verdict: Verdict, request: RefuseRequest) -> Answer {
    let (by, approval_strength, note) = (caller.name.clone(), Strength::Explicit, request.note);
    Answer { verdict, by, approval_strength, conditions: Vec::new(), note, taint: Taint::Auth }
}

async fn give(
    service: &Service,
    caller: &Caller,
    name: &str,
    answer: Answer,
) -> Result<Json<ApprovalAnswered>, Refusal> {
    let card: CardId = named("card", name)?;
    let engine = service.engine(caller);
    // Nobody fills the audit with cards that never were.
    let (state, _) = engine.card(card).await.map_err(|error| service.refuse(error))?;
    stands(state).or_nothing("card", name)?;
    let key = service.house.owner_key()?;
    let answered = Box::pin(engine.answer(card, answer, &key)).await.map_err(|error| service.refuse(error))?;
    Ok(Json(ApprovalAnswered {
        card_id: card.to_string(),
        task_id: answered.task.to_string(),
        verdict: json!(answered.verdict).as_str().unwrap_or_default().to_owned(),
    }))
}
