//! Frames of JSON, read with suspicion: what is missing is empty, what is too long is cut, and what is no JSON is said to be none.
//! Shared by all adapters.

use serde_json::{Value, json};
use windlass_domain::Digest;
use windlass_domain::execution::{Failure, MOST_OBSERVED, Observation};

use crate::Event;

/// Of a frame that cannot be read, so much is shown.
const MOST_SHOWN: usize = 120;

const LONGEST_ID: usize = 256;

/// The object in a frame, or what is to be said of one without. Of an empty one, which terminals add, nothing.
pub fn object(frame: &[u8]) -> Result<Value, Vec<Event>> {
    let frame = frame.trim_ascii();
    match serde_json::from_slice::<Value>(frame) {
        Ok(value) if value.is_object() => Ok(value),
        _ if frame.is_empty() => Err(Vec::new()),
        _ => Err(vec![unreadable("is no JSON object", frame)]),
    }
}

pub fn unreadable(why: &str, frame: &[u8]) -> Event {
    Event::Unreadable { why: shown(why, frame) }
}

/// What is made of a kind of event that means nothing to us. Those that are known to are `known`; another one is said to be one.
pub fn passed_over(kind: &str, known: &[&str]) -> Vec<Event> {
    let is_known = kind.is_empty() || known.contains(&kind);
    (!is_known).then(|| Event::Unknown { kind: kind.chars().take(MOST_SHOWN).collect() }).into_iter().collect()
}

/// What is wrong with a frame, and its beginning.
pub fn shown(why: &str, frame: &[u8]) -> String {
    format!("a frame {why}: {}", String::from_utf8_lossy(&frame[..frame.len().min(MOST_SHOWN)]))
}

/// A question by the name of one that is open: an answer to the first would be taken for one to the second.
pub fn asked_twice(request: &str) -> Event {
    unreadable("asks again what is not answered yet", request.as_bytes())
}

/// The text at a JSON pointer, empty where there is none.
pub fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

pub fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// The items of the list at a JSON pointer.
pub fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub fn line(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// An id that the program does not give, or that is no name but a flood, is one of what was said.
pub fn observed(event_id: impl Into<String>, observation: Observation) -> Event {
    let mut event_id = event_id.into();
    if event_id.is_empty() || event_id.len() > LONGEST_ID {
        event_id = digest(&format!("{event_id}{observation:?}"));
    }
    Event::Observed { event_id, observation }
}

/// Something for people; named by what it says.
pub fn noticed(text: String) -> Event {
    observed(format!("noticed:{}", digest(&text)), Observation::Noticed { text })
}

/// A short name for a text.
pub fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string().chars().take(16).collect()
}

/// As much of a text as is kept.
pub fn kept(text: &str) -> String {
    text[..text.floor_char_boundary(MOST_OBSERVED)].to_owned()
}

/// A tool's input for the record; what is asked about is never cut.
pub fn kept_input(input: &Value) -> Value {
    let written = input.to_string();
    if written.len() <= MOST_OBSERVED { input.clone() } else { json!({ "cut": kept(&written) }) }
}

/// The texts among a message's content, which is one text or a list of blocks.
pub fn content(content: &Value) -> String {
    match content {
        Value::String(text) => kept(text),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
            kept(&texts.join("\n"))
        }
        _ => String::new(),
    }
}

/// What a status of the model's server says about a failure.
pub const fn failure(status: u64) -> Failure {
    match status {
        401 | 403 => Failure::Login,
        _ => Failure::Model,
    }
}
