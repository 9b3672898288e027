//! What a command does to an approval. Total and pure: an answer that comes late, twice or from nowhere changes nothing and
//! says so; nothing is verified but the very token that was issued, as often as it allows and no more.

use crate::approval::{
    Answer, ApprovalCommand, ApprovalEvent, ApprovalState, ApprovalToken, Attached, Card, CheckFailed, Checked,
    Decided, Executed, Expired, Issued, Nonce, Proof, Rejected, Requested, Stage, Use, Verdict, Verified, VerifyFailed,
    Withdrawn,
};
use crate::taint::Taint;
use crate::time::Wall;

pub fn decide(state: &ApprovalState, command: ApprovalCommand, now: Wall) -> Result<ApprovalEvent, Rejected> {
    match command {
        ApprovalCommand::Request(card) => request(state, *card, now),
        ApprovalCommand::Answer(answer) => hear(state, answer, now),
        ApprovalCommand::Expire => expire(state, now),
        ApprovalCommand::Withdraw { reason } => withdraw(state, reason),
        ApprovalCommand::Issue(token) => issue(state, *token, now),
        ApprovalCommand::Verify(proof) => verify(state, &proof, now),
        ApprovalCommand::RecordFailedVerify { reason } => match state {
            ApprovalState::Absent => Err(Rejected::NotRequested),
            _ => Ok(ApprovalEvent::VerifyFailed(VerifyFailed { reason })),
        },
        ApprovalCommand::Attach { execution_nonce, work_item_id } => attach(state, execution_nonce, work_item_id),
        ApprovalCommand::Check { execution_nonce } => {
            may_check(state, execution_nonce).map(|()| ApprovalEvent::Checked(Checked { execution_nonce }))
        }
        ApprovalCommand::RecordFailedCheck { execution_nonce, reason } => may_check(state, execution_nonce)
            .map(|()| ApprovalEvent::CheckFailed(CheckFailed { execution_nonce, reason })),
        ApprovalCommand::Execute { execution_nonce } => execute(state, execution_nonce),
    }
}

fn request(state: &ApprovalState, card: Card, now: Wall) -> Result<ApprovalEvent, Rejected> {
    if *state != ApprovalState::Absent {
        return Err(Rejected::AlreadyRequested);
    }
    if !card.binds.binds_something() {
        return Err(Rejected::BindsNothing);
    }
    if card.binds.max_executions == 0 {
        return Err(Rejected::AllowsNothing);
    }
    if now >= card.expires_at {
        return Err(Rejected::CardExpired);
    }
    Ok(ApprovalEvent::Requested(Requested { card }))
}

fn hear(state: &ApprovalState, answer: Answer, now: Wall) -> Result<ApprovalEvent, Rejected> {
    let card = match state {
        ApprovalState::Absent => return Err(Rejected::NotRequested),
        // The timer may not have fired yet: the time on the card counts.
        ApprovalState::Requested { card } if now >= card.expires_at => return Err(Rejected::CardExpired),
        ApprovalState::Requested { card } => card,
        ApprovalState::Decided { decision, .. } | ApprovalState::Refused { decision, .. } => {
            return Err(Rejected::AlreadyAnswered(decision.verdict));
        }
        ApprovalState::Issued { token, .. } => return Err(Rejected::AlreadyAnswered(token.verdict)),
        ApprovalState::Expired { .. } => return Err(Rejected::CardExpired),
        ApprovalState::Withdrawn { .. } => return Err(Rejected::RunEnded),
    };
    let Answer { verdict, by, approval_strength, conditions, note, taint } = answer;
    if taint == Taint::External {
        return Err(Rejected::NotAuthenticated);
    }
    if verdict.allows() && approval_strength < card.risk_level.least_strength() {
        return Err(Rejected::NeedsSecondStep);
    }
    match (verdict, conditions.is_empty()) {
        (Verdict::Conditional, true) => return Err(Rejected::NoConditions),
        (Verdict::Approved | Verdict::Declined | Verdict::EditRequested, false) => {
            return Err(Rejected::UnwantedConditions);
        }
        _ => {}
    }
    if verdict == Verdict::EditRequested && note.trim().is_empty() {
        return Err(Rejected::NoEdit);
    }
    Ok(ApprovalEvent::Decided(Decided { verdict, by, approval_strength, conditions, note }))
}

fn expire(state: &ApprovalState, now: Wall) -> Result<ApprovalEvent, Rejected> {
    match state {
        ApprovalState::Absent => Err(Rejected::NotRequested),
        ApprovalState::Requested { card } if now < card.expires_at => Err(Rejected::NotExpiredYet),
        ApprovalState::Requested { .. } => Ok(ApprovalEvent::Expired(Expired {})),
        ApprovalState::Decided { decision, .. } | ApprovalState::Refused { decision, .. } => {
            Err(Rejected::AlreadyAnswered(decision.verdict))
        }
        ApprovalState::Issued { token, .. } => Err(Rejected::AlreadyAnswered(token.verdict)),
        ApprovalState::Expired { .. } => Err(Rejected::CardExpired),
        ApprovalState::Withdrawn { .. } => Err(Rejected::RunEnded),
    }
}

fn withdraw(state: &ApprovalState, reason: String) -> Result<ApprovalEvent, Rejected> {
    match state {
        ApprovalState::Absent => Err(Rejected::NotRequested),
        ApprovalState::Requested { .. } | ApprovalState::Decided { .. } | ApprovalState::Issued { .. } => {
            Ok(ApprovalEvent::Withdrawn(Withdrawn { reason }))
        }
        ApprovalState::Refused { decision, .. } => Err(Rejected::AlreadyAnswered(decision.verdict)),
        ApprovalState::Expired { .. } => Err(Rejected::CardExpired),
        ApprovalState::Withdrawn { .. } => Err(Rejected::RunEnded),
    }
}

fn issue(state: &ApprovalState, token: ApprovalToken, now: Wall) -> Result<ApprovalEvent, Rejected> {
    match state {
        ApprovalState::Decided { card, decision } => {
            if let Some(field) = difference(card, decision, &token) {
                return Err(Rejected::OtherToken(field));
            }
            if now >= token.expires_at {
                return Err(Rejected::TokenExpired);
            }
            Ok(ApprovalEvent::Issued(Issued { token }))
        }
        ApprovalState::Issued { .. } => Err(Rejected::AlreadyIssued),
        ApprovalState::Requested { card } if now >= card.expires_at => Err(Rejected::CardExpired),
        _ => Err(why_no_token(state)),
    }
}

/// The first field of `token` that is not what was asked and answered.
fn difference(card: &Card, decision: &Decided, token: &ApprovalToken) -> Option<&'static str> {
    let binds = &card.binds;
    let same = [
        ("tenant", token.tenant == binds.tenant),
        ("work_item_id", token.work_item_id == binds.work_item_id),
        ("scope", token.scope == binds.scope),
        ("plan_hash", token.plan_hash == binds.plan_hash),
        ("binding_hash", token.binding_hash == binds.binding_hash),
        ("spawn_policy_hash", token.spawn_policy_hash == binds.spawn_policy_hash),
        ("max_executions", token.max_executions == binds.max_executions),
        ("verdict", token.verdict == decision.verdict),
        ("approval_strength", token.approval_strength == decision.approval_strength),
        ("conditions", token.conditions == decision.conditions),
        ("executions_used", token.executions_used == 0),
        ("execution_nonces", token.execution_nonces.is_empty()),
    ];
    same.into_iter().find_map(|(field, same)| (!same).then_some(field))
}

/// Why a state that has no token has none.
fn why_no_token(state: &ApprovalState) -> Rejected {
    match state {
        ApprovalState::Absent => Rejected::NotRequested,
        ApprovalState::Requested { .. } => Rejected::NotAnswered,
        ApprovalState::Refused { decision, .. } if decision.verdict == Verdict::EditRequested => {
            Rejected::EditRequested
        }
        ApprovalState::Refused { .. } => Rejected::Declined,
        ApprovalState::Expired { .. } => Rejected::CardExpired,
        ApprovalState::Withdrawn { .. } => Rejected::RunEnded,
        ApprovalState::Decided { .. } | ApprovalState::Issued { .. } => Rejected::NotIssued,
    }
}

fn verify(state: &ApprovalState, proof: &Proof, now: Wall) -> Result<ApprovalEvent, Rejected> {
    let ApprovalState::Issued { token, uses, .. } = state else {
        return Err(why_no_token(state));
    };
    let shown = proof.token();
    // Signed fields and signature must be the issued ones; how often it was used is the stream's to say.
    let as_issued = ApprovalToken { executions_used: 0, execution_nonces: Vec::new(), ..shown.clone() };
    if as_issued != **token {
        return Err(Rejected::OtherToken("signature"));
    }
    if now >= token.expires_at {
        return Err(Rejected::TokenExpired);
    }
    let used = u32::try_from(uses.len()).unwrap_or(u32::MAX);
    if used >= token.max_executions {
        return Err(Rejected::UsedUp(token.max_executions));
    }
    if proof.slot() != used {
        return Err(Rejected::SlotTaken);
    }
    let execution_nonce = proof.execution_nonce();
    if state.used(execution_nonce).is_some() {
        return Err(Rejected::NonceUsed);
    }
    Ok(ApprovalEvent::Verified(Verified { execution_nonce, slot: used }))
}

fn verified_use(state: &ApprovalState, nonce: Nonce) -> Result<&Use, Rejected> {
    match state {
        ApprovalState::Issued { .. } => state.used(nonce).ok_or(Rejected::NotVerified),
        _ => Err(why_no_token(state)),
    }
}

fn attach(state: &ApprovalState, execution_nonce: Nonce, work_item_id: String) -> Result<ApprovalEvent, Rejected> {
    match verified_use(state, execution_nonce)?.stage {
        Stage::Verified if state.card().is_some_and(|card| card.binds.work_item_id != work_item_id) => {
            Err(Rejected::OtherWorkItem)
        }
        Stage::Verified => Ok(ApprovalEvent::Attached(Attached { execution_nonce, work_item_id })),
        Stage::Attached | Stage::Checked => Err(Rejected::AlreadyAttached),
        Stage::Executed => Err(Rejected::AlreadyExecuted),
        Stage::Blocked { .. } => Err(Rejected::Blocked),
    }
}

/// The clock is not asked: what was verified in time may run late.
fn may_check(state: &ApprovalState, execution_nonce: Nonce) -> Result<(), Rejected> {
    let one_call = state.card().is_some_and(|card| card.binds.is_one_call());
    match verified_use(state, execution_nonce)?.stage {
        Stage::Verified => Err(Rejected::NotAttached),
        Stage::Attached | Stage::Checked => Ok(()),
        Stage::Executed if one_call => Err(Rejected::AlreadyExecuted),
        Stage::Executed => Ok(()),
        Stage::Blocked { .. } => Err(Rejected::Blocked),
    }
}

fn execute(state: &ApprovalState, execution_nonce: Nonce) -> Result<ApprovalEvent, Rejected> {
    match verified_use(state, execution_nonce)?.stage {
        Stage::Verified => Err(Rejected::NotAttached),
        Stage::Attached => Err(Rejected::NotChecked),
        Stage::Checked => Ok(ApprovalEvent::Executed(Executed { execution_nonce })),
        Stage::Executed => Err(Rejected::AlreadyExecuted),
        Stage::Blocked { .. } => Err(Rejected::Blocked),
    }
}
