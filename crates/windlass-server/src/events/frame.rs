//! One event as server-sent events have it: an id, and a JSON envelope.

use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use windlass_engine::{FeedEvent, REQUEST};

/// An event, ready to be sent.
#[derive(Debug, Clone)]
pub struct Frame {
    pub position: u64,
    /// Of its stream.
    pub id: String,
    /// Ids of streams that it speaks of, which may have begun with it.
    pub begins: Vec<String>,
    /// The task that this one, which begins here, is a part of. It may stand before the record that names it.
    pub of: Option<String>,
    pub bytes: Bytes,
}

impl Frame {
    /// About what it takes in memory.
    pub fn weight(&self) -> usize {
        const ROW: usize = 256;
        let names = self.begins.iter().chain(&self.of).map(|name| ROW + name.len());
        ROW + self.id.len() + self.bytes.len() + names.sum::<usize>()
    }
}

/// Fields in which a record names what it begins: an execution, a part, a card, a question.
const BEGINNINGS: [&str; 5] = ["execution_id", "run", "card", "card_id", "request_id"];

/// None of what is the server's own bookkeeping.
pub fn is_shown(event: &FeedEvent) -> bool {
    event.about != REQUEST
}

pub fn frame(event: FeedEvent) -> Frame {
    let fields: serde_json::Map<String, Value> = serde_json::from_str(&event.data).unwrap_or_default();
    let named = |name: &&str| fields.get(*name).and_then(Value::as_str).map(str::to_owned);
    // A turn of a conversation says so one level down.
    let begun = fields.get("done").and_then(|done| done["task"].as_str()).map(str::to_owned);
    let begins = BEGINNINGS.iter().filter_map(named).chain(begun).collect();
    let of = fields.get("part_of").and_then(|of| of["task"].as_str()).map(str::to_owned);
    let surfaces = event.surfaces();
    let data = RawValue::from_string(event.data).ok();
    let envelope = json!({
        "position": event.position,
        "at": event.at.to_rfc3339(),
        "stream": format!("{}/{}", event.about, event.id),
        "kind": event.kind,
        "version": event.version,
        "surfaces": surfaces,
        "data": data,
    });
    let text = format!("id: {}\nevent: record\ndata: {envelope}\n\n", event.position);
    Frame { position: event.position, id: event.id, begins, of, bytes: text.into() }
}
