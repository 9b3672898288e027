//! The tables that are moved, in the order in which they may refer to each other, and how each value is written for
//! PostgreSQL's `COPY`. Owners are left behind, and with them who holds a lease or a message. Blobs whose bytes are files are
//! not here: `target` reads those.

use rusqlite::types::ValueRef;
use uuid::Uuid;

use crate::error::Error;
use crate::providers::postgres::written;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    /// May hold any character.
    Name,
    /// Of JSON, or of our own words.
    Text,
    Id,
    Bytes,
}

use Kind::{Bytes, Id, Name, Number, Text};

pub(super) struct Table {
    pub name: &'static str,
    pub columns: &'static [(&'static str, Kind)],
    /// Which rows.
    pub only: &'static str,
}

pub(super) const TABLES: [Table; 9] = [
    Table { name: "streams", columns: &[("key", Number), ("tenant", Name), ("name", Name)], only: "" },
    Table {
        name: "events",
        columns: &[
            ("position", Number),
            ("tenant", Name),
            ("stream", Number),
            ("seq", Number),
            ("kind", Text),
            ("version", Number),
            ("taint", Number),
            ("at", Number),
            ("chain", Bytes),
            ("data", Text),
        ],
        only: "",
    },
    Table {
        name: "leases",
        columns: &[("tenant", Name), ("name", Name), ("epoch", Number), ("taken_at", Number)],
        only: "",
    },
    Table {
        name: "messages",
        columns: &[
            ("key", Number),
            ("id", Id),
            ("tenant", Name),
            ("queue", Name),
            ("subject", Name),
            ("trace_id", Id),
            ("kind", Text),
            ("version", Number),
            ("taint", Number),
            ("priority", Number),
            ("enqueued_at", Number),
            ("deliveries", Number),
            ("forgiven", Number),
            ("not_before", Number),
            ("dead_reason", Name),
            ("dead_at", Number),
            ("data", Text),
        ],
        only: "",
    },
    Table {
        name: "processed",
        columns: &[("tenant", Name), ("scope", Name), ("key", Bytes), ("at", Number)],
        only: "",
    },
    Table { name: "nonces", columns: &[("tenant", Name), ("nonce", Name), ("at", Number)], only: "" },
    Table {
        name: "timers",
        columns: &[
            ("tenant", Name),
            ("name", Name),
            ("due", Number),
            ("queue", Name),
            ("kind", Text),
            ("version", Number),
            ("taint", Number),
            ("data", Text),
        ],
        only: "",
    },
    Table {
        name: "snapshots",
        columns: &[("stream", Number), ("tenant", Name), ("seq", Number), ("version", Number), ("data", Bytes)],
        only: "",
    },
    Table {
        name: "blobs",
        columns: &[
            ("tenant", Name),
            ("digest", Bytes),
            ("size", Number),
            ("taint", Number),
            ("data", Bytes),
            ("put_at", Number),
        ],
        only: " WHERE data IS NOT NULL",
    },
];

impl Table {
    fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    pub(super) fn select(&self) -> String {
        format!("SELECT {} FROM {}{}", self.names(), self.name, self.only)
    }

    pub(super) fn copy(&self) -> String {
        format!("COPY {} ({}) FROM STDIN", self.name, self.names())
    }
}

/// One value of a line; `None`: it is not of its kind.
pub(super) fn write(line: &mut String, kind: Kind, value: ValueRef<'_>) -> Option<()> {
    match (kind, value) {
        (_, ValueRef::Null) => line.push_str("\\N"),
        (Number, ValueRef::Integer(number)) => line.push_str(&number.to_string()),
        (Name, ValueRef::Text(text)) => push_escaped(line, &written(std::str::from_utf8(text).ok()?)),
        (Text, ValueRef::Text(text)) => push_escaped(line, std::str::from_utf8(text).ok()?),
        (Id, ValueRef::Blob(bytes)) => line.push_str(&Uuid::from_slice(bytes).ok()?.to_string()),
        (Bytes, ValueRef::Blob(bytes)) => push_bytes(line, bytes),
        _ => return None,
    }
    Some(())
}

pub(super) fn push_bytes(line: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    line.push_str("\\\\x");
    for byte in bytes {
        line.push(char::from(DIGITS[usize::from(byte >> 4)]));
        line.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

pub(super) fn push_escaped(line: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            other => line.push(other),
        }
    }
}

pub(super) fn damaged(path: &std::path::Path, table: &Table) -> Error {
    let detail = format!("a row of {} holds what nobody puts there", table.name);
    Error::Corrupt { path: path.to_path_buf(), detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: Kind, value: ValueRef<'_>) -> Option<String> {
        let mut line = String::new();
        write(&mut line, kind, value).map(|()| line)
    }

    #[test]
    fn values_are_written_as_copy_reads_them() {
        assert_eq!(line(Number, ValueRef::Integer(-7)).as_deref(), Some("-7"));
        assert_eq!(line(Text, ValueRef::Text(b"a\tb\\c\nd\re")).as_deref(), Some("a\\tb\\\\c\\nd\\re"));
        assert_eq!(line(Name, ValueRef::Text(b"a\0")).as_deref(), Some("a\u{1}\u{2}"));
        assert_eq!(line(Bytes, ValueRef::Blob(&[0, 255, 16])).as_deref(), Some("\\\\x00ff10"));
        assert_eq!(line(Bytes, ValueRef::Null).as_deref(), Some("\\N"));
        let id = line(Id, ValueRef::Blob(&[1; 16]));
        assert_eq!(id.as_deref(), Some("01010101-0101-0101-0101-010101010101"));
        assert_eq!(line(Id, ValueRef::Blob(&[1; 15])), None);
        assert_eq!(line(Number, ValueRef::Text(b"7")), None);
    }
}
