//! `/v1/decisions`: what people said to cards lately. Whoever decides much in little time can be told so from it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::json;
use windlass_api::{Decided, Decision, DecisionList};
use windlass_domain::Wall;
use windlass_domain::approval::{Decided as Said, Strength};
use windlass_engine::CardAnswer;

use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

/// Among so many of the newest cards it is looked for what was said to them.
const MOST: usize = 100;

/// What was said to the newest cards, the last word first. What somebody began by their own word was no card's answer, and is not in it.
#[utoipa::path(
    get,
    path = "/v1/decisions",
    tag = "approvals",
    operation_id = "list_decisions",
    security(("bearer" = ["read"])),
    responses((status = 200, description = "Who said what, and when.", body = DecisionList), Problems)
)]
pub async fn list(State(service): State<Arc<Service>>, caller: Caller) -> Result<Json<DecisionList>, Refusal> {
    let engine = service.engine(&caller);
    let mut found = Vec::new();
    for card in engine.card_ids(MOST).await.map_err(|error| service.refuse(error))? {
        let told = engine.card_answer(card).await.map_err(|error| service.refuse(error))?;
        if let Some(CardAnswer { card, asked_at, answer: Some((said, at)) }) = told
            && said.approval_strength != Strength::Implied
        {
            found.push((at, card, asked_at, said));
        }
    }
    found.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    let decisions = found.into_iter().map(|(at, card, asked_at, said)| Decided {
        card_id: card.card_id.to_string(),
        intent: card.intent,
        risk_level: json!(card.risk_level).as_str().unwrap_or_default().to_owned(),
        asked_at: asked_at.to_rfc3339(),
        decision: decision(said, at),
    });
    Ok(Json(DecisionList { decisions: decisions.collect() }))
}

pub fn decision(said: Said, at: Wall) -> Decision {
    let Said { verdict, by, approval_strength, conditions, note } = said;
    Decision {
        verdict: json!(verdict).as_str().unwrap_or_default().to_owned(),
        by,
        decided_at: at.to_rfc3339(),
        confirmed: approval_strength == Strength::Confirmed,
        conditions,
        note,
    }
}
