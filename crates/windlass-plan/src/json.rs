//! YAML as JSON, where a part of a document is somebody else's to read. Text without quotes that spells a number or a truth
//! value is one, as people expect of YAML.

use serde_json::{Map, Number, Value as Json};

use crate::problem::Collector;
use crate::yaml::{Node, Value};

pub(crate) fn json(node: &Node, problems: &mut Collector) -> Option<Json> {
    match &node.value {
        Value::Null => Some(Json::Null),
        Value::Text(text) if node.is_plain => Some(plain(text)),
        Value::Text(text) => Some(Json::String(text.clone())),
        Value::List(items) => items.iter().map(|item| json(item, problems)).collect(),
        Value::Map(entries) => {
            let mut map = Map::new();
            for (key, value) in entries {
                let Value::Text(name) = &key.value else {
                    problems.report(key.at, format!("a field's name must be a word, not {}", key.kind()));
                    return None;
                };
                if map.insert(name.clone(), json(value, problems)?).is_some() {
                    problems.report(key.at, format!("`{name}` is given twice"));
                }
            }
            Some(Json::Object(map))
        }
    }
}

fn plain(text: &str) -> Json {
    match text {
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(whole), _) => Json::from(whole),
            (_, Ok(number)) if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                Number::from_f64(number).map_or_else(|| Json::String(text.to_owned()), Json::Number)
            }
            _ => Json::String(text.to_owned()),
        },
    }
}
