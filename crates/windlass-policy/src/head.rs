//! Signed heads of a tenant's audit chain: where the chain stood, when, and the owner's signature under it. Kept where
//! whoever can write the database cannot, they tell that its end was cut off or its whole history written anew. A head is one
//! line of canonical JSON and nothing else, so that it has one spelling. Heads are numbered from one: one that is missing
//! leaves a hole. Where they are kept is for the binary.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_domain::approval::{KeyId, Signature};
use windlass_domain::{Digest, Tenant, Wall};

use crate::approve::{OwnerKey, PublicKeys, Purpose, Unhashable, canonical_json};

/// More than any head needs.
pub const MAX_HEAD_BYTES: usize = 4 * 1024;

/// Every field but `signature` is signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedHead {
    pub tenant: Tenant,
    pub number: u64,
    pub position: u64,
    pub hash: Digest,
    pub at: Wall,
    pub key_id: KeyId,
    pub signature: Signature,
}

/// What is to be signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub tenant: Tenant,
    pub number: u64,
    pub position: u64,
    pub hash: Digest,
    pub at: Wall,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHead {
    #[error("this is not a head: {0}")]
    NotAHead(String),
    #[error("it is not written the one way heads are")]
    NotCanonical,
    #[error("the key {0} is not one of the owner's")]
    UnknownKey(KeyId),
    #[error("the key {0} had been retired when it was signed")]
    RetiredKey(KeyId),
    #[error("its signature does not hold")]
    BadSignature,
}

pub fn sign(head: Head, key: &OwnerKey) -> Result<SignedHead, Unhashable> {
    let Head { tenant, number, position, hash, at } = head;
    let signature = Signature::new([0; 64]);
    let mut signed = SignedHead { tenant, number, position, hash, at, key_id: key.key_id(), signature };
    signed.signature = key.sign(Purpose::AuditHead, &signed_bytes(&signed)?);
    Ok(signed)
}

/// Whether one of the owner's keys signed exactly this.
pub fn holds(head: &SignedHead, keys: &PublicKeys) -> Result<(), BadHead> {
    if !keys.knows(&head.key_id) {
        return Err(BadHead::UnknownKey(head.key_id.clone()));
    }
    if keys.was_retired(&head.key_id, head.at) {
        return Err(BadHead::RetiredKey(head.key_id.clone()));
    }
    let signed = signed_bytes(head).map_err(|_| BadHead::NotCanonical)?;
    match keys.holds(&head.key_id, Purpose::AuditHead, &signed, &head.signature) {
        true => Ok(()),
        false => Err(BadHead::BadSignature),
    }
}

/// As a line, without its end.
pub fn write_head(head: &SignedHead) -> Result<Vec<u8>, Unhashable> {
    canonical_json(head)
}

pub fn read_head(line: &[u8]) -> Result<SignedHead, BadHead> {
    if line.len() > MAX_HEAD_BYTES {
        return Err(BadHead::NotAHead("it is too long".to_owned()));
    }
    let head: SignedHead = serde_json::from_slice(line).map_err(|error| BadHead::NotAHead(error.to_string()))?;
    match write_head(&head) {
        Ok(canonical) if canonical == line => Ok(head),
        _ => Err(BadHead::NotCanonical),
    }
}

fn signed_bytes(head: &SignedHead) -> Result<Vec<u8>, Unhashable> {
    let mut value = serde_json::to_value(head)?;
    if let Value::Object(fields) = &mut value {
        fields.remove("signature");
    }
    canonical_json(&value)
}
