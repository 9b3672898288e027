//! Between our values and PostgreSQL's: unsigned numbers as its signed ones, ids as UUIDs, taint as a small number, names with
//! the one character that its texts cannot hold written as two others. What a row holds was put there by a commit, so a value
//! that cannot be read is damage and says so.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use bytes::BytesMut;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;
use windlass_domain::{Digest, Taint, Wall};

use crate::providers::postgres::failure::Failure;

pub(super) type Read<T> = Result<T, Failure>;

/// Counters and times stay far below the greatest integer; one that does not is cut off at it rather than made negative.
pub(super) fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A number of rows, so far below the greatest that it can be added to.
pub(super) fn limit(rows: usize) -> i64 {
    i64::from(i32::try_from(rows).unwrap_or(i32::MAX))
}

pub(super) fn millis(time: Wall) -> i64 {
    int(time.as_millis())
}

pub(super) fn uuid(id: &impl Display) -> Uuid {
    Uuid::parse_str(&id.to_string()).expect("an id is written as a UUID")
}

pub(super) const fn taint_code(taint: Taint) -> i16 {
    match taint {
        Taint::Owner => 0,
        Taint::Auth => 1,
        Taint::External => 2,
    }
}

const fn taint(code: i16) -> Taint {
    match code {
        0 => Taint::Owner,
        1 => Taint::Auth,
        _ => Taint::External,
    }
}

pub(super) fn digest(bytes: &[u8]) -> Read<Digest> {
    let text = bytes.iter().fold(String::with_capacity(64), |text, byte| text + &format!("{byte:02x}"));
    text.parse().map_err(|_| Failure::unreadable("a digest does not have 32 bytes"))
}

/// A name, or whatever else may hold any character. Payloads need none of this: JSON writes such characters in its own way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a>(pub &'a str);

impl ToSql for Text<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        written(self.0).as_ref().to_sql(kind, out)
    }

    fn accepts(kind: &Type) -> bool {
        <&str as ToSql>::accepts(kind)
    }

    to_sql_checked!();
}

/// As it is stored. It sorts as the text itself does.
pub(crate) fn written(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', '\x01']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\x01', "\x01\x03").replace('\0', "\x01\x02"))
}

pub(super) fn unwritten(stored: &str) -> Cow<'_, str> {
    if !stored.contains('\x01') {
        return Cow::Borrowed(stored);
    }
    let mut parts = stored.split('\x01');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let escaped = if part.starts_with('\x02') { '\0' } else { '\x01' };
        text.push(escaped);
        text.push_str(part.get(1..).unwrap_or_default());
    }
    Cow::Owned(text)
}

/// A row's columns as our values.
pub(super) trait Columns {
    fn value<'a, T: FromSql<'a>>(&'a self, column: usize) -> Read<T>;

    fn text(&self, column: usize) -> Read<String> {
        self.value(column).map(|stored| unwritten(stored).into_owned())
    }

    fn uint(&self, column: usize) -> Read<u64> {
        let value: i64 = self.value(column)?;
        u64::try_from(value).map_err(|_| Failure::unreadable("a number is negative"))
    }

    fn small(&self, column: usize) -> Read<u32> {
        let value: i64 = self.value(column)?;
        u32::try_from(value).map_err(|_| Failure::unreadable("a number is out of range"))
    }

    fn version(&self, column: usize) -> Read<u16> {
        let value: i32 = self.value(column)?;
        u16::try_from(value).map_err(|_| Failure::unreadable("a version is out of range"))
    }

    fn wall(&self, column: usize) -> Read<Wall> {
        self.uint(column).map(Wall::from_millis)
    }

    fn taint(&self, column: usize) -> Read<Taint> {
        self.value(column).map(taint)
    }

    fn id<T: FromStr>(&self, column: usize) -> Read<T> {
        let value: Uuid = self.value(column)?;
        value.to_string().parse().map_err(|_| Failure::unreadable("an id is none"))
    }

    fn is_null(&self, column: usize) -> bool;
}

impl Columns for Row {
    fn value<'a, T: FromSql<'a>>(&'a self, column: usize) -> Read<T> {
        self.try_get(column).map_err(|_| Failure::unreadable("a column is not of its type"))
    }

    fn is_null(&self, column: usize) -> bool {
        !matches!(self.try_get::<_, Option<Anything>>(column), Ok(Some(_)))
    }
}

/// A value of whatever type, looked at only for being there.
struct Anything;

impl FromSql<'_> for Anything {
    fn from_sql(_: &Type, _: &[u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_written_without_nulls_and_read_back_and_sorts_as_before() {
        let letters = ["", "\0", "\x01", "\x02", "\x03", "a", "\u{1F6A2}"];
        let texts: Vec<String> = letters
            .iter()
            .flat_map(|one| letters.iter().flat_map(move |two| letters.map(|three| [one, *two, three].concat())))
            .collect();
        for text in &texts {
            assert!(!written(text).contains('\0'));
            assert_eq!(unwritten(&written(text)), text.as_str());
            for other in &texts {
                assert_eq!(written(text).cmp(&written(other)), text.cmp(other), "{text:?} {other:?}");
            }
        }
    }
}
