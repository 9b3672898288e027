//! Signatures and the approval's machine together: a card, its answer, a token, and whoever tries to get round one of them.

use proptest::prelude::*;
use windlass_domain::Taint;
use windlass_domain::approval::{
    Answer, ApprovalCommand, ApprovalEvent, ApprovalState, ApprovalToken, Decided, Nonce, Stage, Strength, TokenId,
    Verdict, decide,
};
use windlass_policy::approve::{Order, OwnerKey, Refusal, Subject, check, issue, verify};

use crate::approve::{LATER, NOW, card, key, keys, subject};

fn step(state: &mut ApprovalState, command: ApprovalCommand) -> Option<ApprovalEvent> {
    let event = decide(state, command, NOW).ok()?;
    state.apply(&event);
    Some(event)
}

fn answer() -> Answer {
    Answer {
        verdict: Verdict::Approved,
        by: "owner".into(),
        approval_strength: Strength::Confirmed,
        conditions: vec![],
        note: String::new(),
        taint: Taint::Owner,
    }
}

fn decided() -> ApprovalState {
    let mut state = ApprovalState::Absent;
    step(&mut state, ApprovalCommand::Request(Box::new(card()))).expect("a card");
    step(&mut state, ApprovalCommand::Answer(answer())).expect("an answer");
    state
}

fn token_by(key: &OwnerKey) -> ApprovalToken {
    let Answer { verdict, by, approval_strength, conditions, note, .. } = answer();
    let decision = Decided { verdict, by, approval_strength, conditions, note };
    let order = Order {
        card: &card(),
        decision: &decision,
        token_id: TokenId::new(NOW, 2),
        nonce: Nonce::new(3),
        issued_at: NOW,
        expires_at: LATER,
    };
    issue(order, key).expect("plain data")
}

/// The subject with the counts that stand in the stream.
fn on_record(state: &ApprovalState) -> Subject {
    let token = state.token().expect("issued");
    Subject { executions_used: token.executions_used, execution_nonces: token.execution_nonces, ..subject() }
}

/// As the engine does: verify, then claim and record in one commit.
fn use_it(state: &mut ApprovalState, shown: &ApprovalToken, nonce: u128) -> Result<(), Refusal> {
    match verify(shown, &on_record(state), &keys(), NOW, Nonce::new(nonce)) {
        Ok(proof) => {
            step(state, ApprovalCommand::Verify(Box::new(proof)));
            Ok(())
        }
        Err(refusal) => {
            step(state, ApprovalCommand::RecordFailedVerify { reason: refusal.to_string() }).expect("recorded");
            Err(refusal)
        }
    }
}

#[test]
fn from_the_card_to_the_deed() {
    let mut state = decided();
    step(&mut state, ApprovalCommand::Issue(Box::new(token_by(&key())))).expect("the token of this card");
    let shown = state.token().expect("issued");
    use_it(&mut state, &shown, 9).expect("good");
    let execution_nonce = Nonce::new(9);
    let attach = ApprovalCommand::Attach { execution_nonce, work_item_id: "task-1".into() };
    step(&mut state, attach).expect("verified");
    let used = state.token().expect("issued");
    check(&used, &on_record(&state), &keys(), execution_nonce).expect("what was approved");
    step(&mut state, ApprovalCommand::Check { execution_nonce }).expect("attached");
    step(&mut state, ApprovalCommand::Execute { execution_nonce }).expect("checked");
    assert_eq!(state.used(execution_nonce).expect("used").stage, Stage::Executed);
}

/// A token that a stranger signed can be put in the stream by nobody but the runtime itself, and even then it is worth
/// nothing.
#[test]
fn a_forged_token_in_the_stream_is_still_worth_nothing() {
    let mut state = decided();
    let mut forged = token_by(&OwnerKey::new(&[66; 32]));
    forged.key_id = key().key_id();
    step(&mut state, ApprovalCommand::Issue(Box::new(forged.clone()))).expect("its fields are those of the card");
    assert_eq!(use_it(&mut state, &forged, 9), Err(Refusal::BadSignature));
    assert!(state.used(Nonce::new(9)).is_none());
}

#[derive(Debug, Clone)]
enum Attack {
    Honest,
    Stale,
    Stranger,
    MoreUses,
    Longer,
    OtherCall,
    CountReset,
}

proptest! {
    // Each case signs and checks many times.
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is shown in whatever order, as many uses are verified as were allowed, by good tokens alone.
    #[test]
    fn only_good_tokens_are_ever_verified(
        attacks in prop::collection::vec(
            prop::sample::select(vec![
                Attack::Honest, Attack::Stale, Attack::Stranger, Attack::MoreUses, Attack::Longer, Attack::OtherCall,
                Attack::CountReset,
            ]),
            0..12,
        ),
    ) {
        let mut state = decided();
        step(&mut state, ApprovalCommand::Issue(Box::new(token_by(&key())))).expect("a token");
        let first = state.token().expect("issued");
        let mut honest = 0;
        for (turn, attack) in attacks.iter().enumerate() {
            let current = state.token().expect("issued");
            let used = current.executions_used;
            let shown = match attack {
                Attack::Honest => current,
                Attack::Stale | Attack::CountReset => first.clone(),
                Attack::Stranger => ApprovalToken { key_id: key().key_id(), ..token_by(&OwnerKey::new(&[66; 32])) },
                Attack::MoreUses => ApprovalToken { max_executions: 1_000, ..current },
                Attack::Longer => ApprovalToken { expires_at: windlass_domain::Wall::from_millis(u64::MAX >> 12), ..current },
                Attack::OtherCall => ApprovalToken { binding_hash: None, ..current },
            };
            let accepted = use_it(&mut state, &shown, 100 + u128::try_from(turn).expect("few")).is_ok();
            let good = matches!(attack, Attack::Honest)
                || (matches!(attack, Attack::Stale | Attack::CountReset) && used == 0);
            prop_assert_eq!(accepted, good && used < 2, "{:?} after {} uses", attack, used);
            honest += u32::from(accepted);
        }
        prop_assert_eq!(state.token().expect("issued").executions_used, honest);
        prop_assert!(honest <= 2);
    }
}
