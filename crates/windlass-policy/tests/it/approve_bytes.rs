//! Every byte of a token, changed to every other value: none of them is worth anything. What is bound is changed the same
//! way, bit by bit.

use windlass_domain::approval::{ApprovalToken, Card, Decided, Nonce, TokenId};
use windlass_domain::{Digest, Tenant};
use windlass_policy::approve::{Order, Refusal, Subject, issue, read_token, verify, write_token};

use crate::approve::{LATER, NOW, card, decision, key, keys, subject, token};

/// Short texts, so that the test is; every kind of field is there.
fn small_card() -> Card {
    let mut card = card();
    card.binds.tenant = Tenant::new("t");
    card.binds.work_item_id = "w".into();
    (card.binds.plan_hash, card.binds.spawn_policy_hash) = (None, None);
    card
}

fn small_token() -> ApprovalToken {
    let decision = Decided { conditions: vec!["c".into()], ..decision() };
    let order = Order {
        card: &small_card(),
        decision: &decision,
        token_id: TokenId::new(NOW, 2 << 64),
        nonce: Nonce::new(3),
        issued_at: NOW,
        expires_at: LATER,
    };
    issue(order, &key()).expect("plain")
}

fn small_subject() -> Subject {
    let binds = small_card().binds;
    let (tenant, work_item_id) = (binds.tenant, binds.work_item_id);
    Subject { tenant, work_item_id, plan_hash: None, spawn_policy_hash: None, ..subject() }
}

#[test]
fn every_single_byte_change_of_a_token_is_refused() {
    let (keys, subject) = (keys(), small_subject());
    let accepted = |bytes: &[u8]| match read_token(bytes) {
        Ok(token) => verify(&token, &subject, &keys, NOW, Nonce::new(9)).map(|_| ()),
        Err(refusal) => Err(refusal),
    };
    let good = write_token(&small_token()).expect("plain");
    assert_eq!(accepted(&good), Ok(()));
    let mut by_signature = 0;
    for at in 0..good.len() {
        let mut bytes = good.clone();
        for value in (0..=255).filter(|value| *value != good[at]) {
            bytes[at] = value;
            match accepted(&bytes) {
                Ok(()) => panic!("byte {at} as {value} is accepted: {}", String::from_utf8_lossy(&bytes)),
                Err(Refusal::BadSignature) => by_signature += 1,
                Err(_) => {}
            }
        }
        let shorter = [&good[..at], &good[at + 1..]].concat();
        assert!(accepted(&shorter).is_err(), "without byte {at}");
    }
    // Most changes are no token at all; those that are must have reached the signature.
    assert!(by_signature > 3_000, "only {by_signature} changes reached the signature");
}

/// A token that binds all three hashes: each of their digits, changed.
#[test]
fn every_digit_of_every_hash_in_a_token_is_signed() {
    let keys = keys();
    let good = String::from_utf8(write_token(&token()).expect("plain")).expect("text");
    for field in ["plan_hash", "binding_hash", "spawn_policy_hash"] {
        let start = good.find(&format!("\"{field}\":\"")).expect("bound") + field.len() + 4;
        for at in start..start + 64 {
            let mut bytes = good.clone().into_bytes();
            bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
            let changed = read_token(&bytes).expect("still a token");
            assert_eq!(verify(&changed, &subject(), &keys, NOW, Nonce::new(9)), Err(Refusal::BadSignature), "{field}");
        }
    }
}

#[test]
fn every_single_bit_of_what_is_bound_counts() {
    let keys = keys();
    let flipped = |digest: Option<Digest>, bit: usize| {
        let text = digest.expect("bound").to_string();
        let mut digits: Vec<u8> = text.bytes().collect();
        let value = u8::from_str_radix(&text[bit / 4..bit / 4 + 1], 16).expect("hex") ^ (1 << (bit % 4));
        digits[bit / 4] = format!("{value:x}").as_bytes()[0];
        Some(String::from_utf8(digits).expect("hex").parse().expect("a digest"))
    };
    let (token, good) = (token(), subject());
    let refusal = |subject: &Subject| verify(&token, subject, &keys, NOW, Nonce::new(9)).err();
    for bit in 0..256 {
        let good = good.clone();
        let plan = Subject { plan_hash: flipped(good.plan_hash, bit), ..good.clone() };
        assert_eq!(refusal(&plan), Some(Refusal::OtherPlan));
        let call = Subject { binding_hash: flipped(good.binding_hash, bit), ..good.clone() };
        assert_eq!(refusal(&call), Some(Refusal::OtherCall));
        let spawn = Subject { spawn_policy_hash: flipped(good.spawn_policy_hash, bit), ..good };
        assert_eq!(refusal(&spawn), Some(Refusal::OtherSpawnPolicy));
    }
}
