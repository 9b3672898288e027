//! A token as bytes: canonical JSON and nothing else, so that a token has one spelling and any other is refused unread.

use serde_json::Value;
use windlass_domain::approval::ApprovalToken;

use super::canonical::{Unhashable, canonical_json};
use super::refusal::Refusal;

pub const MAX_TOKEN_BYTES: usize = 64 * 1024;

/// What the runtime counts, and the signature itself.
const UNSIGNED: [&str; 3] = ["signature", "executions_used", "execution_nonces"];

pub fn write_token(token: &ApprovalToken) -> Result<Vec<u8>, Unhashable> {
    canonical_json(token)
}

pub fn read_token(bytes: &[u8]) -> Result<ApprovalToken, Refusal> {
    if bytes.len() > MAX_TOKEN_BYTES {
        return Err(Refusal::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| Refusal::NotAToken(error.to_string()))?;
    let token: ApprovalToken = serde_json::from_str(text).map_err(|error| Refusal::NotAToken(error.to_string()))?;
    match write_token(&token) {
        Ok(canonical) if canonical == bytes => Ok(token),
        _ => Err(Refusal::NotCanonical),
    }
}

/// The bytes a signature covers.
pub(super) fn signed_bytes(token: &ApprovalToken) -> Result<Vec<u8>, Unhashable> {
    let mut value = serde_json::to_value(token)?;
    if let Value::Object(fields) = &mut value {
        fields.retain(|name, _| !UNSIGNED.contains(&name.as_str()));
    }
    canonical_json(&value)
}
