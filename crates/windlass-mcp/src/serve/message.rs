//! JSON-RPC 2.0 from the server's side, one message at a time: what came in, and how it is answered. Pure and total: whatever the
//! bytes, they are a message or there is something to answer.

use serde_json::{Map, Value, json};

pub(crate) const NOT_JSON: i64 = -32700;
pub(crate) const NO_MESSAGE: i64 = -32600;
pub(crate) const NO_SUCH_METHOD: i64 = -32601;
pub(crate) const BAD_PARAMS: i64 = -32602;
pub(crate) const OUR_FAULT: i64 = -32603;
/// The client is not, or no longer, let in.
pub(crate) const NOT_SERVED: i64 = -32000;
/// Of revision 2026-07-28.
pub(crate) const HEADERS_DIFFER: i64 = -32020;
pub(crate) const NO_SUCH_VERSION: i64 = -32022;

const LONGEST_ID: usize = 200;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    Request {
        id: Id,
        method: String,
        params: Map<String, Value>,
    },
    Notice {
        method: String,
        params: Map<String, Value>,
    },
    /// To a question, and we never ask one.
    Reply,
}

/// A text or a whole number, which is given back as it came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Id(Value);

impl Id {
    /// Or nothing where it is no id that can be given back unchanged: a fraction, a number of more than 64 bits, a tome.
    pub fn read(value: &Value) -> Option<Self> {
        let is_good = match value {
            Value::String(text) => text.len() <= LONGEST_ID,
            Value::Number(number) => number.is_i64() || number.is_u64(),
            _ => false,
        };
        is_good.then(|| Self(value.clone()))
    }

    /// Tells ids apart: `1` is not `"1"`.
    pub fn key(&self) -> String {
        self.0.to_string()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl Fault {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// What is no message, and whose it is where that can be told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bad {
    pub id: Option<Id>,
    pub fault: Fault,
}

pub(crate) fn read(bytes: &[u8]) -> Result<Message, Bad> {
    let bad = |code: i64, message: &str| Bad { id: None, fault: Fault::new(code, message) };
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| bad(NOT_JSON, &format!("this is not JSON that can be read here: {error}")))?;
    let mut message = match value {
        Value::Object(message) => message,
        Value::Array(_) => return Err(bad(NO_MESSAGE, "batches are not taken: send one message at a time")),
        _ => return Err(bad(NO_MESSAGE, "a message is a JSON object")),
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(bad(NO_MESSAGE, "a message says \"jsonrpc\": \"2.0\""));
    }
    let id = match message.get("id") {
        None => None,
        Some(value) => Some(Id::read(value).ok_or_else(|| {
            bad(NO_MESSAGE, &format!("an id is a whole number of 64 bits or a text of at most {LONGEST_ID} bytes"))
        })?),
    };
    let bad = |id: Option<Id>, code: i64, message: &str| Bad { id, fault: Fault::new(code, message) };
    let method = match message.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => return Err(bad(id, NO_MESSAGE, "a method is a text")),
        None if id.is_some() && (message.contains_key("result") || message.contains_key("error")) => {
            return Ok(Message::Reply);
        }
        None => return Err(bad(id, NO_MESSAGE, "a message has a method, or it answers one with an id")),
    };
    let params = match message.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(bad(id, BAD_PARAMS, "params are an object")),
    };
    Ok(match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notice { method, params },
    })
}

/// One line of JSON, without its end.
pub(crate) fn answer(id: &Id, result: Result<Value, Fault>) -> Vec<u8> {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id.0, "result": result}).to_string().into_bytes(),
        Err(fault) => refusal(Some(id), &fault),
    }
}

pub(crate) fn refusal(id: Option<&Id>, fault: &Fault) -> Vec<u8> {
    let mut error = json!({"code": fault.code, "message": fault.message});
    if let Some(data) = &fault.data {
        error["data"] = data.clone();
    }
    let id = id.map_or(&Value::Null, |id| &id.0);
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bad(text: &str) -> (i64, Option<String>) {
        let bad = read(text.as_bytes()).expect_err(text);
        (bad.fault.code, bad.id.map(|id| id.key()))
    }

    #[test]
    fn what_is_not_json_says_so() {
        let deep = "[".repeat(100_000);
        for text in ["", "{", "hello", "{\"a\":}", "\u{0}", "{}{}", deep.as_str()] {
            assert_eq!(bad(text), (NOT_JSON, None), "{}", &text[..text.len().min(20)]);
        }
        assert_eq!(read(&[0xff, 0xfe]).expect_err("no text").fault.code, NOT_JSON);
    }

    #[test]
    fn what_is_json_and_no_message_says_so() {
        for text in [
            "[]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            "7",
            "null",
            "{}",
            r#"{"id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        ] {
            assert_eq!(bad(text), (NO_MESSAGE, None), "{text}");
        }
        let whose = Some("1".to_owned());
        assert_eq!(bad(r#"{"jsonrpc":"2.0","id":1}"#), (NO_MESSAGE, whose.clone()));
        assert_eq!(bad(r#"{"jsonrpc":"2.0","id":1,"method":7}"#), (NO_MESSAGE, whose.clone()));
        assert_eq!(bad(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#), (BAD_PARAMS, whose));
    }

    #[test]
    fn an_id_comes_back_as_it_was_or_is_refused() {
        let long = format!("\"{}\"", "x".repeat(LONGEST_ID));
        for id in ["0", "-1", "18446744073709551615", "-9223372036854775808", "\"\"", "\"\\u0000é\"", long.as_str()] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            let Ok(Message::Request { id: read, .. }) = read(text.as_bytes()) else { panic!("{id}") };
            let sent: Value = serde_json::from_str(id).unwrap();
            let answered: Value = serde_json::from_slice(&answer(&read, Ok(json!({})))).unwrap();
            assert_eq!(answered["id"], sent, "{id}");
        }
        let longer = format!("\"{}\"", "x".repeat(LONGEST_ID + 1));
        for id in ["1.5", "1e3", "18446744073709551616", "123456789012345678901234567890", "true", longer.as_str()] {
            assert_eq!(bad(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)), (NO_MESSAGE, None), "{id}");
        }
    }

    #[test]
    fn a_number_and_its_text_are_two_ids() {
        let key = |value: Value| Id::read(&value).unwrap().key();
        assert_ne!(key(json!(1)), key(json!("1")));
    }

    #[test]
    fn answers_are_one_line() {
        let id = Id::read(&json!("a\nb")).unwrap();
        let fault = Fault { data: Some(json!("x\ny")), ..Fault::new(1, "p\nq") };
        for line in [answer(&id, Ok(json!("r\ns"))), refusal(Some(&id), &fault)] {
            assert!(!line.contains(&b'\n'));
        }
    }
}
