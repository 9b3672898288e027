//! JSON-RPC 2.0 as the agents' channels speak it: frames in, frames out, without their framing. What a frame lacks is empty, what is too
//! long is cut, and what is no message is said to be none. Who asked what, and what an answer means, is the conversation's business.

use serde_json::{Value, json};

pub use crate::frame::{kept, kept_input, list, number, observed, passed_over, text, unreadable};
use crate::frame::{line, shown};

/// The standard's number for a method that is not there.
pub const NO_SUCH_METHOD: i64 = -32601;

#[derive(Debug)]
pub enum Message {
    /// The other side waits for an answer.
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notice {
        method: String,
        params: Value,
    },
    /// The answer to a request of ours.
    Reply {
        id: u64,
        result: Result<Value, Refusal>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    pub code: i64,
    pub message: String,
    pub data: Value,
}

/// The message in a frame; `None` for an empty one, and why for one that is none.
pub fn read(frame: &[u8]) -> Result<Option<Message>, String> {
    let frame = frame.trim_ascii();
    if frame.is_empty() {
        return Ok(None);
    }
    let Ok(Value::Object(mut fields)) = serde_json::from_slice::<Value>(frame) else {
        return Err(shown("is no JSON object", frame));
    };
    let params = fields.remove("params").unwrap_or_default();
    let id = fields.remove("id");
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Ok(Some(Message::Request { id, method, params })),
        (Some(Value::String(method)), None) => Ok(Some(Message::Notice { method, params })),
        (None, Some(id)) => match (id.as_u64(), fields.remove("error"), fields.remove("result")) {
            (Some(id), Some(error), _) => Ok(Some(Message::Reply { id, result: Err(refusal(&error)) })),
            (Some(id), None, Some(result)) => Ok(Some(Message::Reply { id, result: Ok(result) })),
            _ => Err(shown("answers nothing that was asked", frame)),
        },
        _ => Err(shown("is no message", frame)),
    }
}

fn refusal(error: &Value) -> Refusal {
    Refusal {
        code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
        message: kept(text(error, "/message")),
        data: error.get("data").cloned().unwrap_or_default(),
    }
}

/// Numbers our requests.
#[derive(Debug, Default)]
pub struct Requests {
    last: u64,
}

impl Requests {
    pub fn write(&mut self, method: &str, params: &Value) -> (u64, Vec<u8>) {
        self.last += 1;
        (self.last, line(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params })))
    }
}

pub fn notice(method: &str, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

pub fn reply(id: &Value, result: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

pub fn refuse(id: &Value, code: i64, message: &str) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
}
