//! JSON-RPC 2.0 as the protocol uses it, one message at a time. Pure. Nothing is assumed of what comes in: what is no message
//! is noise.

use serde_json::{Value, json};

/// `method not found`.
const NOT_OFFERED: i64 = -32601;

#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    Answer {
        id: u64,
        result: Result<Value, Fault>,
    },
    /// The server wants something of us.
    Request {
        id: Value,
        method: String,
    },
    Notice,
    Noise,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub code: i64,
    pub message: String,
}

pub fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    written(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

pub fn notice(method: &str, params: &Value) -> Vec<u8> {
    written(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// What a server is told that asks us for something: that we are here, and otherwise no.
pub fn reply(id: &Value, method: &str) -> Vec<u8> {
    written(&match method {
        "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
        _ => {
            let message = format!("this client does not offer {method}");
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": NOT_OFFERED, "message": message}})
        }
    })
}

pub fn read(bytes: &[u8]) -> Incoming {
    let Ok(Value::Object(mut message)) = serde_json::from_slice(bytes) else { return Incoming::Noise };
    let id = message.remove("id");
    if let Some(method) = message.get("method") {
        return match (method.as_str(), id) {
            (None, _) => Incoming::Noise,
            (Some(method), Some(id)) => Incoming::Request { id, method: method.to_owned() },
            (Some(_), None) => Incoming::Notice,
        };
    }
    let Some(id) = id.as_ref().and_then(Value::as_u64) else { return Incoming::Noise };
    match (message.remove("result"), message.remove("error")) {
        (Some(result), None) => Incoming::Answer { id, result: Ok(result) },
        (None, Some(error)) => Incoming::Answer { id, result: Err(fault(&error)) },
        _ => Incoming::Noise,
    }
}

fn fault(error: &Value) -> Fault {
    let message: String = error["message"].as_str().unwrap_or("it did not say why").chars().take(2_000).collect();
    Fault { code: error["code"].as_i64().unwrap_or_default(), message }
}

fn written(message: &Value) -> Vec<u8> {
    message.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_noise() {
        for text in ["", "hello", "[]", "{}", "7", r#"{"id":1}"#, r#"{"id":"1","result":{}}"#, r#"{"method":7,"id":1}"#]
        {
            assert_eq!(read(text.as_bytes()), Incoming::Noise, "{text}");
        }
        assert_eq!(read(br#"{"id":1,"result":{},"error":{}}"#), Incoming::Noise);
    }

    #[test]
    fn answers_requests_and_notices_are_told_apart() {
        assert_eq!(read(br#"{"id":1,"result":{}}"#), Incoming::Answer { id: 1, result: Ok(json!({})) });
        let fault = Fault { code: -1, message: "no".to_owned() };
        assert_eq!(
            read(br#"{"id":2,"error":{"code":-1,"message":"no"}}"#),
            Incoming::Answer { id: 2, result: Err(fault) }
        );
        let request = Incoming::Request { id: json!("a"), method: "ping".to_owned() };
        assert_eq!(read(br#"{"id":"a","method":"ping"}"#), request);
        assert_eq!(read(br#"{"method":"notifications/progress"}"#), Incoming::Notice);
    }

    #[test]
    fn a_ping_is_answered_and_everything_else_refused() {
        let answer = |method| serde_json::from_slice::<Value>(&reply(&json!(3), method)).unwrap();
        assert_eq!(answer("ping")["result"], json!({}));
        for method in ["sampling/createMessage", "roots/list", "elicitation/create"] {
            assert_eq!(answer(method)["error"]["code"], NOT_OFFERED, "{method}");
        }
    }
}
