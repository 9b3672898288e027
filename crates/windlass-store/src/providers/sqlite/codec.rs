//! Between our values and SQLite's: unsigned numbers as its signed ones, ids as sixteen bytes, taint as a small number.

use std::fmt::Display;
use std::str::FromStr;

use rusqlite::types::Type;
use uuid::Uuid;
use windlass_domain::{Digest, Taint, Wall};

/// Counters and times stay far below SQLite's greatest integer; one that does not is cut off at it rather than made negative.
pub(super) fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn uint(column: usize, value: i64) -> rusqlite::Result<u64> {
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

pub(super) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

pub(super) fn wall(column: usize, value: i64) -> rusqlite::Result<Wall> {
    uint(column, value).map(Wall::from_millis)
}

pub(super) const fn taint_code(taint: Taint) -> i64 {
    match taint {
        Taint::Owner => 0,
        Taint::Auth => 1,
        Taint::External => 2,
    }
}

pub(super) const fn taint(code: i64) -> Taint {
    match code {
        0 => Taint::Owner,
        1 => Taint::Auth,
        _ => Taint::External,
    }
}

pub(super) fn id_bytes(id: &impl Display) -> [u8; 16] {
    Uuid::parse_str(&id.to_string()).expect("an id is written as a UUID").into_bytes()
}

pub(super) fn id<T: FromStr>(column: usize, bytes: [u8; 16]) -> rusqlite::Result<T>
where
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let text = Uuid::from_bytes(bytes).to_string();
    text.parse().map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, Box::new(error)))
}

pub(crate) fn digest(bytes: [u8; 32]) -> Digest {
    let text = bytes.iter().fold(String::with_capacity(64), |text, byte| text + &format!("{byte:02x}"));
    text.parse().expect("32 bytes are 64 hex digits")
}

pub(super) fn version(column: usize, value: i64) -> rusqlite::Result<u16> {
    u16::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}
