//! Entries as Redis delivers them. Redis lets anybody write anything, of any length: what is no entry of ours says why, and as much of it
//! is kept as shows somebody what it was.

use redis::Value;

use super::backlog::Place;
use super::entry::Inlet;

/// Of the JSON of one entry, in bytes.
pub const LARGEST: usize = 4 << 20;
/// What is shown of what was refused.
const MOST_SHOWN: usize = 64 << 10;

#[derive(Debug)]
pub struct Delivered {
    pub place: Place,
    pub body: Body,
}

/// What stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    Json(String),
    Unreadable {
        reason: String,
        shown: String,
    },
    /// It was taken out of its stream after it had been delivered.
    Deleted,
}

impl Body {
    fn unreadable(reason: &str) -> Self {
        Self::Unreadable { reason: reason.to_owned(), shown: String::new() }
    }

    fn of_fields(fields: &[Value]) -> Self {
        let is_json = |pair: &&[Value]| bytes(&pair[0]) == Some(b"json");
        let mut found = fields.chunks_exact(2).filter(is_json).filter_map(|pair| bytes(&pair[1]));
        match (found.next(), found.next()) {
            (None, _) => Self::unreadable("it has no field `json`"),
            (Some(_), Some(_)) => Self::unreadable("it has two fields `json`"),
            (Some(json), None) => Self::of_json(json),
        }
    }

    pub fn of_json(json: &[u8]) -> Self {
        let refused = |reason: String| Self::Unreadable { reason, shown: shown(&String::from_utf8_lossy(cut(json))) };
        match std::str::from_utf8(json) {
            _ if json.len() > LARGEST => {
                refused(format!("it has {} bytes, and {LARGEST} are the most that are read", json.len()))
            }
            Ok(json) => Self::Json(json.to_owned()),
            Err(_) => refused("it is no UTF-8".to_owned()),
        }
    }
}

/// The beginning of a text, for whoever looks at the dead letters.
pub fn shown(text: &str) -> String {
    let end = text.floor_char_boundary(MOST_SHOWN);
    text[..end].to_owned()
}

fn cut(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(MOST_SHOWN)]
}

/// The entries in their order. Redis answers with streams, and each stream with its entries.
pub fn of_streams(reply: Value) -> Vec<Delivered> {
    let mut delivered: Vec<Delivered> = Vec::new();
    for stream in list(reply) {
        let mut parts = list(stream).into_iter();
        let (Some(name), Some(entries)) = (parts.next(), parts.next()) else { continue };
        let Some(inlet) = Inlet::ALL.into_iter().find(|inlet| bytes(&name) == Some(inlet.stream().as_bytes())) else {
            continue;
        };
        delivered.extend(of_entries(inlet, entries));
    }
    delivered
}

pub fn of_entries(inlet: Inlet, entries: Value) -> Vec<Delivered> {
    list(entries).into_iter().filter_map(|entry| delivered(inlet, entry)).collect()
}

fn delivered(inlet: Inlet, entry: Value) -> Option<Delivered> {
    let mut parts = list(entry).into_iter();
    let id = parts.next()?;
    let place = Place::of(inlet, std::str::from_utf8(bytes(&id)?).ok()?)?;
    let body = match parts.next() {
        Some(Value::Array(fields)) => Body::of_fields(&fields),
        _ => Body::Deleted,
    };
    Some(Delivered { place, body })
}

fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values,
        _ => Vec::new(),
    }
}

fn bytes(value: &Value) -> Option<&[u8]> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Value {
        Value::BulkString(bytes.to_vec())
    }

    fn body(fields: &[&[u8]]) -> Body {
        let fields = Value::Array(fields.iter().map(|field| text(field)).collect());
        let entries = Value::Array(vec![Value::Array(vec![text(b"7-1"), fields])]);
        let mut found = of_streams(Value::Array(vec![Value::Array(vec![text(b"task-command"), entries])]));
        assert_eq!(found[0].place.id(), "7-1");
        found.remove(0).body
    }

    fn reason(body: &Body) -> &str {
        match body {
            Body::Unreadable { reason, shown } => {
                assert!(shown.len() <= 3 * MOST_SHOWN, "{}", shown.len());
                reason
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_field_is_read_and_others_are_left_alone() {
        assert_eq!(body(&[b"other", b"json", b"json", b"{}"]), Body::Json("{}".to_owned()));
        assert_eq!(reason(&body(&[b"other", b"json"])), "it has no field `json`");
        assert_eq!(reason(&body(&[b"json", b"{}", b"json", b"{}"])), "it has two fields `json`");
        assert_eq!(reason(&body(&[b"json", b"{\"a\": \"\xff\"}"])), "it is no UTF-8");
        let enormous = vec![b'x'; LARGEST + 1];
        assert_eq!(
            reason(&body(&[b"json", &enormous])),
            "it has 4194305 bytes, and 4194304 are the most that are read"
        );
    }

    #[test]
    fn what_was_deleted_meanwhile_is_delivered_without_fields() {
        let entry = Value::Array(vec![text(b"7-1"), Value::Nil]);
        let found = of_entries(Inlet::Scheduled, Value::Array(vec![entry]));
        assert_eq!(found[0].body, Body::Deleted);
    }
}
