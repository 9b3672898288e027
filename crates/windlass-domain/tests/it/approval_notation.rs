//! An approval's history in words: each word is a command that is decided and applied, so that only states which can be
//! reached are spoken of. Times are milliseconds: a card is good until `CARD_ENDS`, its token until `TOKEN_ENDS`.

#![expect(clippy::disallowed_methods, reason = "these tests say themselves which signatures held")]

use serde_json::json;
use windlass_domain::approval::{
    Answer, ApprovalCommand, ApprovalEvent, ApprovalScope, ApprovalState, ApprovalToken, Binding, Card, CardId, KeyId,
    Nonce, Proof, Rejected, RiskLevel, Signature, Strength, TokenId, Verdict, decide,
};
use windlass_domain::{Digest, Taint, Tenant, Wall};

pub const NOW: Wall = Wall::from_millis(1_000);
pub const CARD_ENDS: Wall = Wall::from_millis(2_000);
pub const TOKEN_ENDS: Wall = Wall::from_millis(5_000);

pub fn card() -> Card {
    Card {
        card_id: CardId::new(NOW, 1),
        intent: "Remove the build folder".into(),
        risk_level: RiskLevel::High,
        rationale: "It is stale".into(),
        consequence_label: "deletes files".into(),
        affected_items: vec!["target/".into()],
        details: json!({"argv": ["rm", "-r", "target"]}),
        worst_case: None,
        expires_at: CARD_ENDS,
        binds: Binding {
            tenant: Tenant::local(),
            work_item_id: "task-1".into(),
            scope: ApprovalScope::SingleStep,
            plan_hash: None,
            binding_hash: Some(Digest::of(b"rm -r target")),
            spawn_policy_hash: None,
            max_executions: 1,
        },
    }
}

pub fn answer(verdict: Verdict) -> Answer {
    let conditions = if verdict == Verdict::Conditional { vec!["only today".to_owned()] } else { vec![] };
    Answer {
        verdict,
        by: "owner".into(),
        approval_strength: Strength::Confirmed,
        conditions,
        note: "not the cache".into(),
        taint: Taint::Owner,
    }
}

/// What the card and a plain yes become.
pub fn token(card: &Card) -> ApprovalToken {
    let Binding { tenant, work_item_id, scope, plan_hash, binding_hash, spawn_policy_hash, max_executions } =
        card.binds.clone();
    ApprovalToken {
        token_id: TokenId::new(NOW, 2),
        tenant,
        key_id: KeyId("key".into()),
        plan_hash,
        binding_hash,
        spawn_policy_hash,
        work_item_id,
        scope,
        verdict: Verdict::Approved,
        signature: Signature::new([7; 64]),
        issued_at: NOW,
        expires_at: TOKEN_ENDS,
        nonce: Nonce::new(3),
        approval_strength: Strength::Confirmed,
        conditions: vec![],
        max_executions,
        executions_used: 0,
        execution_nonces: vec![],
    }
}

/// The proof for the next use of the token that stands in `state`; of a token made up where there is none.
pub fn proof(state: &ApprovalState, nonce: u128) -> Proof {
    let shown = state.token().unwrap_or_else(|| token(&card()));
    Proof::of_checked_signature(shown, Nonce::new(nonce))
}

pub const COMMANDS: [&str; 13] = [
    "request",
    "approve",
    "decline",
    "edit",
    "expire",
    "withdraw",
    "issue",
    "verify",
    "verify_failed",
    "attach",
    "check",
    "check_failed",
    "execute",
];

/// All of these speak of the use with nonce 9.
pub fn command(word: &str, state: &ApprovalState) -> ApprovalCommand {
    let execution_nonce = Nonce::new(9);
    let card = state.card().cloned().unwrap_or_else(card);
    match word {
        "request" => ApprovalCommand::Request(Box::new(card)),
        "approve" => ApprovalCommand::Answer(answer(Verdict::Approved)),
        "decline" => ApprovalCommand::Answer(answer(Verdict::Declined)),
        "edit" => ApprovalCommand::Answer(answer(Verdict::EditRequested)),
        "expire" => ApprovalCommand::Expire,
        "withdraw" => ApprovalCommand::Withdraw { reason: "the run ended".into() },
        "issue" => ApprovalCommand::Issue(Box::new(token(&card))),
        "verify" => ApprovalCommand::Verify(Box::new(proof(state, 9))),
        "verify_failed" => ApprovalCommand::RecordFailedVerify { reason: "forged".into() },
        "attach" => ApprovalCommand::Attach { execution_nonce, work_item_id: card.binds.work_item_id },
        "check" => ApprovalCommand::Check { execution_nonce },
        "check_failed" => ApprovalCommand::RecordFailedCheck { execution_nonce, reason: "another file".into() },
        "execute" => ApprovalCommand::Execute { execution_nonce },
        other => panic!("`{other}` is no command"),
    }
}

/// Decides and, where it may be, applies.
pub fn step(state: &mut ApprovalState, command: ApprovalCommand, now: Wall) -> Result<ApprovalEvent, Rejected> {
    let event = decide(state, command, now)?;
    state.apply(&event);
    Ok(event)
}

pub fn told_of(card: Card, history: &str) -> ApprovalState {
    let mut state = ApprovalState::Absent;
    for word in history.split_whitespace() {
        let now = if word == "expire" { CARD_ENDS } else { NOW };
        let command = match word {
            "request" => ApprovalCommand::Request(Box::new(card.clone())),
            _ => command(word, &state),
        };
        step(&mut state, command, now).unwrap_or_else(|refused| panic!("`{word}` in `{history}`: {refused}"));
    }
    state
}

pub fn told(history: &str) -> ApprovalState {
    told_of(card(), history)
}
