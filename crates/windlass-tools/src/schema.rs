//! Checking arguments against a tool's JSON schema, for a model's eyes: every problem at once, each with the path to the
//! field and what to write instead.
//!
//! Only the keywords that tools here use are known. A schema with any other is refused when the tool is registered, so
//! that nothing is ever silently left unchecked. A general validator (`jsonschema`) would more than double this crate's
//! build time; tools with foreign schemas bring their own checks.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::suggest::nearest;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Schema {
    Object { properties: BTreeMap<String, Schema>, required: Vec<String>, others: Others },
    Array { items: Box<Schema> },
    String { choices: Vec<String>, not_empty: bool },
    Integer { minimum: Option<i64>, maximum: Option<i64> },
    Boolean,
}

/// Whether an object may have properties that are not described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    Allowed,
    Refused,
}

impl Schema {
    /// `Err` names what is not understood.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        let object = schema.as_object().ok_or("a schema that is not an object")?;
        let kind = object.get("type").and_then(Value::as_str).ok_or("a schema without `type`")?;
        let known: &[&str] = match kind {
            "object" => &["properties", "required", "additionalProperties"],
            "array" => &["items"],
            "string" => &["enum", "minLength"],
            "integer" => &["minimum", "maximum"],
            "boolean" => &[],
            other => return Err(format!("type: {other}")),
        };
        let always = ["type", "description", "default"];
        if let Some(unknown) =
            object.keys().find(|key| !known.contains(&key.as_str()) && !always.contains(&key.as_str()))
        {
            return Err(unknown.clone());
        }
        match kind {
            "object" => compile_object(object),
            "array" => Ok(Self::Array { items: Box::new(Self::compile(object.get("items").unwrap_or(&Value::Null))?) }),
            "string" => compile_string(object),
            "integer" => {
                let bound = |name: &str| object.get(name).and_then(Value::as_i64);
                Ok(Self::Integer { minimum: bound("minimum"), maximum: bound("maximum") })
            }
            _ => Ok(Self::Boolean),
        }
    }

    /// Everything that is wrong with `value`, a line each.
    pub fn problems(&self, value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        self.check(value, "", &mut found);
        found
    }

    fn check(&self, value: &Value, path: &str, found: &mut Vec<String>) {
        match (self, value) {
            (Self::Object { properties, required, others }, Value::Object(fields)) => {
                check_object(properties, required, *others, fields, path, found);
            }
            (Self::Array { items }, Value::Array(elements)) => {
                for (index, element) in elements.iter().enumerate() {
                    items.check(element, &format!("{path}[{index}]"), found);
                }
            }
            (Self::String { choices, not_empty }, Value::String(text)) => {
                if !choices.is_empty() && !choices.contains(text) {
                    let meant = nearest(text, choices.iter().map(String::as_str));
                    let hint = meant.map_or_else(String::new, |meant| format!("; did you mean \"{meant}\"?"));
                    found.push(format!("`{path}`: must be one of {}, not {}{hint}", quoted(choices), shown(value)));
                } else if *not_empty && text.is_empty() {
                    found.push(format!("`{path}`: must not be empty"));
                }
            }
            (Self::Integer { minimum, maximum }, Value::Number(number)) if number.is_i64() || number.is_u64() => {
                let number = number.as_i64().unwrap_or(i64::MAX);
                if minimum.is_some_and(|minimum| number < minimum) || maximum.is_some_and(|maximum| number > maximum) {
                    found.push(format!("`{path}`: must be {}, not {}", self.described(), shown(value)));
                }
            }
            (Self::Boolean, Value::Bool(_)) => {}
            _ => found.push(format!("`{path}`: must be {}, not {}", self.described(), shown(value))),
        }
    }

    fn described(&self) -> String {
        match self {
            Self::Object { .. } => "an object".to_owned(),
            Self::Array { .. } => "an array".to_owned(),
            Self::String { choices, .. } if choices.is_empty() => "a string".to_owned(),
            Self::String { choices, .. } => format!("one of {}", quoted(choices)),
            Self::Integer { minimum: None, maximum: None } => "an integer".to_owned(),
            Self::Integer { minimum, maximum } => {
                format!("an integer {}", range(*minimum, *maximum))
            }
            Self::Boolean => "true or false".to_owned(),
        }
    }
}

fn compile_object(object: &Map<String, Value>) -> Result<Schema, String> {
    let mut properties = BTreeMap::new();
    for (name, schema) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        properties.insert(name.clone(), Schema::compile(schema)?);
    }
    let required = strings(object.get("required"))?;
    let others = match object.get("additionalProperties") {
        None | Some(Value::Bool(true)) => Others::Allowed,
        Some(Value::Bool(false)) => Others::Refused,
        Some(_) => return Err("additionalProperties as a schema".to_owned()),
    };
    Ok(Schema::Object { properties, required, others })
}

fn compile_string(object: &Map<String, Value>) -> Result<Schema, String> {
    let not_empty = match object.get("minLength").and_then(Value::as_u64) {
        None | Some(0) => false,
        Some(1) => true,
        Some(_) => return Err("minLength above 1".to_owned()),
    };
    Ok(Schema::String { choices: strings(object.get("enum"))?, not_empty })
}

fn strings(list: Option<&Value>) -> Result<Vec<String>, String> {
    let elements = list.and_then(Value::as_array).into_iter().flatten();
    let text = |value: &Value| {
        value.as_str().map(str::to_owned).ok_or_else(|| "a list of something else than strings".to_owned())
    };
    elements.map(text).collect()
}

fn check_object(
    properties: &BTreeMap<String, Schema>,
    required: &[String],
    others: Others,
    fields: &Map<String, Value>,
    path: &str,
    found: &mut Vec<String>,
) {
    let below = |name: &str| {
        if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
    };
    for name in required.iter().filter(|name| !fields.contains_key(*name)) {
        let wanted =
            properties.get(name).map_or_else(String::new, |schema| format!("; it must be {}", schema.described()));
        found.push(format!("`{}`: missing{wanted}", below(name)));
    }
    for (name, value) in fields {
        match properties.get(name) {
            // Models write null for a field they leave out.
            Some(_) if value.is_null() && !required.contains(name) => {}
            Some(schema) => schema.check(value, &below(name), found),
            None if others == Others::Refused => {
                found.push(unknown(&below(name), name, properties, fields));
            }
            None => {}
        }
    }
}

fn unknown(path: &str, name: &str, properties: &BTreeMap<String, Schema>, fields: &Map<String, Value>) -> String {
    let unused = properties.keys().map(String::as_str).filter(|known| !fields.contains_key(*known));
    let hint = nearest(name, unused).map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
    format!("`{path}`: unknown field{hint} (known: {})", known.join(", "))
}

fn quoted(choices: &[String]) -> String {
    choices.iter().map(|choice| format!("\"{choice}\"")).collect::<Vec<_>>().join(", ")
}

fn range(minimum: Option<i64>, maximum: Option<i64>) -> String {
    match (minimum, maximum) {
        (Some(minimum), Some(maximum)) => format!("from {minimum} to {maximum}"),
        (Some(minimum), None) => format!("of at least {minimum}"),
        (None, Some(maximum)) => format!("of at most {maximum}"),
        (None, None) => String::new(),
    }
}

/// What was written instead, short enough to be read.
fn shown(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    let kind = match value {
        Value::Object(_) => return "an object".to_owned(),
        Value::Array(_) => return "an array".to_owned(),
        Value::String(_) => "the string ",
        Value::Null | Value::Bool(_) | Value::Number(_) => "",
    };
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{kind}{}…", &text[..end]),
        None => format!("{kind}{text}"),
    }
}
