//! One event as server-sent events have it: an id, and a JSON envelope.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use serde_json::value::RawValue;
use windlass_engine::{Engine, Error, FeedEvent, REQUEST};

/// An event, ready to be sent.
#[derive(Debug, Clone)]
pub struct Frame {
    pub position: u64,
    pub of: Of,
    pub bytes: Bytes,
}

/// The ids of its stream and of all that this is a part of.
pub type Of = Arc<[String]>;

impl Frame {
    /// About what it takes in memory.
    pub fn weight(&self) -> usize {
        const ROW: usize = 256;
        ROW + self.bytes.len()
    }
}

/// None of what is the server's own bookkeeping.
pub fn is_shown(event: &FeedEvent) -> bool {
    event.about != REQUEST
}

/// What cannot be told of it now may be later: whoever asks waits for the store. All else is nobody's but its own.
pub async fn of(engine: &Engine, about: &str, id: &str) -> Result<Of, Error> {
    match engine.belongs_to(about, id).await {
        Err(error) if error.is_outage() => Err(error),
        Err(_) => Ok([id.to_owned()].into()),
        Ok(of) => Ok(of),
    }
}

pub fn frame(event: FeedEvent, of: Of) -> Frame {
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
    Frame { position: event.position, of, bytes: text.into() }
}
