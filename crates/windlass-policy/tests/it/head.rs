//! Signed heads: what is accepted, and that nothing else is.

use windlass_domain::approval::KeyId;
use windlass_domain::{Digest, Tenant, Wall};
use windlass_policy::approve::{OwnerKey, PublicKeys, Purpose, canonical_json};
use windlass_policy::head::{BadHead, Head, SignedHead, holds, read_head, sign, write_head};

fn head() -> Head {
    let (tenant, hash) = (Tenant::new("t"), Digest::of(b"history"));
    Head { tenant, number: 3, position: 41, hash, at: Wall::from_millis(1_700_000_000_000) }
}

fn key() -> OwnerKey {
    OwnerKey::new(&[7; 32])
}

fn keys() -> PublicKeys {
    let mut keys = PublicKeys::default();
    keys.add(&key().public()).expect("a key");
    keys
}

fn signed() -> SignedHead {
    sign(head(), &key()).expect("plain")
}

fn accepted(line: &[u8]) -> Result<(), BadHead> {
    read_head(line).and_then(|head| holds(&head, &keys()))
}

#[test]
fn a_head_comes_back_as_it_was_signed() {
    let line = write_head(&signed()).expect("plain");
    assert_eq!(read_head(&line), Ok(signed()));
    assert_eq!(accepted(&line), Ok(()));
}

#[test]
fn every_single_byte_change_of_a_head_is_refused() {
    let good = write_head(&signed()).expect("plain");
    let mut by_signature = 0;
    for at in 0..good.len() {
        let mut bytes = good.clone();
        for value in (0..=255).filter(|value| *value != good[at]) {
            bytes[at] = value;
            match accepted(&bytes) {
                Ok(()) => panic!("byte {at} as {value} is accepted: {}", String::from_utf8_lossy(&bytes)),
                Err(BadHead::BadSignature) => by_signature += 1,
                Err(_) => {}
            }
        }
        assert!(accepted(&[&good[..at], &good[at + 1..]].concat()).is_err(), "without byte {at}");
    }
    // Most changes are no head at all; those that are must have reached the signature.
    assert!(by_signature > 1_000, "only {by_signature} changes reached the signature");
}

#[test]
fn another_key_or_another_purpose_is_worth_nothing() {
    let stranger = sign(head(), &OwnerKey::new(&[8; 32])).expect("plain");
    assert_eq!(holds(&stranger, &keys()), Err(BadHead::UnknownKey(stranger.key_id.clone())));
    let posing = SignedHead { key_id: key().key_id(), ..stranger };
    assert_eq!(holds(&posing, &keys()), Err(BadHead::BadSignature));
    let mut value = serde_json::to_value(signed()).expect("plain");
    value.as_object_mut().expect("an object").remove("signature");
    let message = canonical_json(&value).expect("plain");
    let signed_for = |purpose| SignedHead { signature: key().sign(purpose, &message), ..signed() };
    assert_eq!(holds(&signed_for(Purpose::OwnerMessage), &keys()), Err(BadHead::BadSignature));
    assert_eq!(holds(&signed_for(Purpose::AuditHead), &keys()), Ok(()), "the control: the same bytes");
    let nobody = SignedHead { key_id: KeyId(String::new()), ..signed() };
    assert_eq!(holds(&nobody, &keys()), Err(BadHead::UnknownKey(KeyId(String::new()))));
}

#[test]
fn a_head_signed_after_its_key_was_retired_is_refused() {
    let retired = |at: u64| {
        let mut keys = PublicKeys::default();
        keys.add_retired(&key().public(), Wall::from_millis(at)).expect("a key");
        holds(&signed(), &keys)
    };
    assert_eq!(retired(1_699_999_999_999), Err(BadHead::RetiredKey(key().key_id())));
    assert_eq!(retired(1_700_000_000_000), Ok(()), "signed while the key was in use");
    assert_eq!(holds(&signed(), &keys()), Ok(()), "the key is in use");
}

#[test]
fn another_spelling_and_what_is_no_head_are_refused() {
    let line = String::from_utf8(write_head(&signed()).expect("plain")).expect("text");
    let spaced = line.replacen(':', ": ", 1);
    assert_eq!(accepted(spaced.as_bytes()), Err(BadHead::NotCanonical));
    assert_eq!(accepted(format!(" {line}").as_bytes()), Err(BadHead::NotCanonical));
    for other in ["", "{}", "[]", "null", &line[..line.len() - 1], &format!("{line}{line}"), &" ".repeat(5_000)] {
        assert!(matches!(accepted(other.as_bytes()), Err(BadHead::NotAHead(_))), "{other}");
    }
}
