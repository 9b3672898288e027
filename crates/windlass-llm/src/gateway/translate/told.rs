//! A request in our own words, and small things for reading one.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use windlass_domain::{Message, ToolSpec};

use crate::gateway::translate::picture::Contents;

/// What an agent asks, whatever its language.
#[derive(Debug, Default, PartialEq)]
pub struct Told {
    pub system: String,
    pub tools: Vec<ToolSpec>,
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u32>,
    pub answer_schema: Option<Value>,
    pub lines: Vec<Line>,
    /// Tools that the agent keeps in folders: their names here, and folder and name there.
    pub folders: BTreeMap<String, (String, String)>,
}

/// A message, and what its pictures show.
#[derive(Debug, PartialEq)]
pub struct Line {
    pub message: Message,
    pub pictures: Contents,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Untold {
    #[error("the request is not what this address takes: {0}")]
    Malformed(String),
    #[error("the model behind this gateway speaks another language, in which {0} cannot be said; ask without it")]
    Unsayable(String),
}

pub fn malformed<T>(what: impl Into<String>) -> Result<T, Untold> {
    Err(Untold::Malformed(what.into()))
}

pub fn unsayable<T>(what: impl Into<String>) -> Result<T, Untold> {
    Err(Untold::Unsayable(what.into()))
}

/// Every field is one of these, or asks for nothing.
pub fn nothing_but(map: &Map<String, Value>, said: &[&str], left: &[&str]) -> Result<(), Untold> {
    let is_known = |name: &str| said.contains(&name) || left.contains(&name);
    match map.iter().find(|(name, value)| !is_known(name) && !is_nothing(value)) {
        Some((name, _)) => unsayable(format!("`{name}`")),
        None => Ok(()),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

pub fn text<'v>(map: &'v Map<String, Value>, name: &str) -> Result<&'v str, Untold> {
    match map.get(name) {
        Some(Value::String(text)) => Ok(text),
        _ => malformed(format!("`{name}` is missing or no text")),
    }
}

pub fn kind(map: &Map<String, Value>) -> &str {
    map.get("type").and_then(Value::as_str).unwrap_or_default()
}

pub fn object(value: &Value) -> Result<&Map<String, Value>, Untold> {
    value.as_object().map_or_else(|| malformed("there is a part that is no object"), Ok)
}

/// The items of a list; an absent one has none.
pub fn list<'v>(map: &'v Map<String, Value>, name: &str) -> Result<&'v [Value], Untold> {
    match map.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => malformed(format!("`{name}` is no list")),
    }
}

pub fn temperature(map: &Map<String, Value>) -> Option<f64> {
    map.get("temperature").and_then(Value::as_f64)
}

pub fn limit(map: &Map<String, Value>, name: &str) -> Option<u32> {
    map.get(name).and_then(Value::as_u64).map(|limit| u32::try_from(limit).unwrap_or(u32::MAX))
}

/// The model chooses whether to call a tool, or the request is refused.
pub fn free_choice(map: &Map<String, Value>) -> Result<(), Untold> {
    match map.get("tool_choice") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(choice)) if choice == "auto" => Ok(()),
        Some(Value::Object(choice)) if kind(choice) == "auto" => Ok(()),
        Some(_) => unsayable("`tool_choice` other than `auto`"),
    }
}

/// The form of the answer, as OpenAI's and Anthropic's interfaces describe one.
pub fn schema(format: &Map<String, Value>) -> Result<Option<Value>, Untold> {
    let described = format.get("schema").or_else(|| format.get("json_schema")?.get("schema"));
    match (kind(format), described) {
        ("" | "text", _) => Ok(None),
        ("json_object", _) => Ok(Some(json!({"type": "object"}))),
        ("json_schema", Some(schema)) => Ok(Some(schema.clone())),
        (other, _) => unsayable(format!("an answer in the form `{other}`")),
    }
}

/// A function as all three describe it, but for the name of its parameters.
pub fn tool(described: &Map<String, Value>, parameters: &str) -> Result<ToolSpec, Untold> {
    let empty = || json!({"type": "object", "properties": {}});
    Ok(ToolSpec {
        name: text(described, "name")?.to_owned(),
        description: described.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
        parameters: described.get(parameters).filter(|schema| schema.is_object()).cloned().unwrap_or_else(empty),
    })
}
