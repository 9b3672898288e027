//! Making a token out of a card and its answer. Nothing else goes in but time, a nonce and the key, so that a token cannot
//! say more than the card did.

use windlass_domain::Wall;
use windlass_domain::approval::{ApprovalToken, Binding, Card, Decided, Nonce, Signature, TokenId};

use super::canonical::Unhashable;
use super::key::{OwnerKey, Purpose};
use super::token::signed_bytes;

pub struct Order<'a> {
    pub card: &'a Card,
    pub decision: &'a Decided,
    pub token_id: TokenId,
    pub nonce: Nonce,
    pub issued_at: Wall,
    pub expires_at: Wall,
}

pub fn issue(order: Order<'_>, key: &OwnerKey) -> Result<ApprovalToken, Unhashable> {
    let Order { card, decision, token_id, nonce, issued_at, expires_at } = order;
    let Binding { tenant, work_item_id, scope, plan_hash, binding_hash, spawn_policy_hash, max_executions } =
        card.binds.clone();
    let mut token = ApprovalToken {
        token_id,
        tenant,
        key_id: key.key_id(),
        plan_hash,
        binding_hash,
        spawn_policy_hash,
        work_item_id,
        scope,
        verdict: decision.verdict,
        signature: Signature::new([0; 64]),
        issued_at,
        expires_at,
        nonce,
        approval_strength: decision.approval_strength,
        conditions: decision.conditions.clone(),
        max_executions,
        executions_used: 0,
        execution_nonces: Vec::new(),
    };
    token.signature = key.sign(Purpose::ApprovalToken, &signed_bytes(&token)?);
    Ok(token)
}
