//! JSON with one spelling (RFC 8785), so that two values have the same bytes exactly when they are the same. Whole numbers
//! beyond 2^53 are refused: the RFC would write two of them alike.

use serde::Serialize;
use serde_json::Value;
use windlass_domain::Digest;

const LARGEST_WHOLE: u64 = (1 << 53) - 1;

#[derive(Debug, thiserror::Error)]
pub enum Unhashable {
    #[error("the number {0} is too large to be signed; use one below 2^53")]
    NumberTooLarge(String),
    #[error("this cannot be written as JSON: {0}")]
    NotJson(#[from] serde_json::Error),
}

pub fn canonical_json<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Unhashable> {
    let value = serde_json::to_value(value)?;
    refuse_large_numbers(&value)?;
    Ok(serde_json_canonicalizer::to_vec(&value)?)
}

/// The digest of `value`, which nothing hashed for another `purpose` can have.
pub(super) fn digest<T: Serialize + ?Sized>(purpose: &str, value: &T) -> Result<Digest, Unhashable> {
    let mut bytes = format!("windlass/{purpose}/v1\n").into_bytes();
    bytes.extend(canonical_json(value)?);
    Ok(Digest::of(&bytes))
}

fn refuse_large_numbers(value: &Value) -> Result<(), Unhashable> {
    match value {
        Value::Number(number) => {
            let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
            match magnitude {
                Some(magnitude) if magnitude > LARGEST_WHOLE => Err(Unhashable::NumberTooLarge(number.to_string())),
                _ => Ok(()),
            }
        }
        Value::Array(items) => items.iter().try_for_each(refuse_large_numbers),
        Value::Object(fields) => fields.values().try_for_each(refuse_large_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}
