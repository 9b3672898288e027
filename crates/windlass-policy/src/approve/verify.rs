//! The only place that authorises. `verify` spends a use: what it returns is worth something once a commit has claimed it,
//! so that of many who verify at once as many win as the token allows. `check` spends nothing: at the entrance of what was
//! approved it asks again whether this is it, and that `verify` came first.

use std::time::Duration;

use windlass_domain::approval::{ApprovalScope, ApprovalToken, Nonce, Proof, Strength};
use windlass_domain::{Digest, Tenant, Wall};

use super::key::{PublicKeys, Purpose};
use super::refusal::Refusal;
use super::token::signed_bytes;

/// How far the clock of whoever signed may be ahead of ours.
pub const CLOCK_SKEW: Duration = Duration::from_secs(5 * 60);

/// What is about to happen, computed from the thing itself, and what the approval's stream says about the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    pub tenant: Tenant,
    pub work_item_id: String,
    pub scope: ApprovalScope,
    pub plan_hash: Option<Digest>,
    pub binding_hash: Option<Digest>,
    pub spawn_policy_hash: Option<Digest>,
    pub least_strength: Strength,
    pub executions_used: u32,
    pub execution_nonces: Vec<Nonce>,
}

pub fn verify(
    token: &ApprovalToken,
    subject: &Subject,
    keys: &PublicKeys,
    now: Wall,
    execution_nonce: Nonce,
) -> Result<Proof, Refusal> {
    signature_holds(token, keys)?;
    is_for(token, subject)?;
    if token.issued_at > now + CLOCK_SKEW {
        return Err(Refusal::NotYetValid);
    }
    if now >= token.expires_at {
        return Err(Refusal::Expired);
    }
    if token.executions_used >= token.max_executions {
        return Err(Refusal::UsedUp(token.max_executions));
    }
    if token.execution_nonces.contains(&execution_nonce) {
        return Err(Refusal::NonceUsed);
    }
    #[expect(clippy::disallowed_methods, reason = "the one place that makes proofs: the signature has just held")]
    let proof = Proof::of_checked_signature(token.clone(), execution_nonce);
    Ok(proof)
}

/// Expiry was judged when it was verified.
pub fn check(
    token: &ApprovalToken,
    subject: &Subject,
    keys: &PublicKeys,
    execution_nonce: Nonce,
) -> Result<(), Refusal> {
    signature_holds(token, keys)?;
    is_for(token, subject)?;
    if !token.execution_nonces.contains(&execution_nonce) {
        return Err(Refusal::NeverVerified);
    }
    Ok(())
}

fn signature_holds(token: &ApprovalToken, keys: &PublicKeys) -> Result<(), Refusal> {
    if !keys.knows(&token.key_id) {
        return Err(Refusal::UnknownKey(token.key_id.clone()));
    }
    if keys.was_retired(&token.key_id, token.issued_at) {
        return Err(Refusal::RetiredKey(token.key_id.clone()));
    }
    let signed = signed_bytes(token).map_err(|_| Refusal::NotCanonical)?;
    match keys.holds(&token.key_id, Purpose::ApprovalToken, &signed, &token.signature) {
        true => Ok(()),
        false => Err(Refusal::BadSignature),
    }
}

fn is_for(token: &ApprovalToken, subject: &Subject) -> Result<(), Refusal> {
    let binds_something =
        token.plan_hash.is_some() || token.binding_hash.is_some() || token.spawn_policy_hash.is_some();
    let counted =
        (token.executions_used, &token.execution_nonces) == (subject.executions_used, &subject.execution_nonces);
    let rules = [
        (token.verdict.allows(), Refusal::NotApproved(token.verdict)),
        (binds_something, Refusal::BindsNothing),
        (token.tenant == subject.tenant, Refusal::OtherTenant),
        (token.work_item_id == subject.work_item_id, Refusal::OtherWorkItem),
        (token.scope == subject.scope, Refusal::OtherScope),
        (token.plan_hash == subject.plan_hash, Refusal::OtherPlan),
        (token.binding_hash == subject.binding_hash, Refusal::OtherCall),
        (token.spawn_policy_hash == subject.spawn_policy_hash, Refusal::OtherSpawnPolicy),
        (token.approval_strength >= subject.least_strength, Refusal::TooWeak(subject.least_strength)),
        (counted, Refusal::OtherCount),
    ];
    match rules.into_iter().find(|(kept, _)| !kept) {
        Some((_, refusal)) => Err(refusal),
        None => Ok(()),
    }
}
