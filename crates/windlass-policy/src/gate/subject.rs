//! What a gate looks at. Fields are named by their path: `message`, `response`, `tool`, `tool_args.path`, `step.status`,
//! `taint`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use windlass_domain::Taint;

/// More text than this is not judged: it is blocked.
pub const MAX_TEXT: usize = 4 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Subject {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_args: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Value>,
    pub taint: Taint,
    /// Files that the call or step names, as they are now; what is not here is not there.
    pub files: BTreeMap<String, FileSeen>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FileSeen {
    pub bytes: u64,
}

impl Subject {
    pub const fn nothing(taint: Taint) -> Self {
        Self { message: None, response: None, tool: None, tool_args: None, step: None, taint, files: BTreeMap::new() }
    }

    pub fn message(text: impl Into<String>, taint: Taint) -> Self {
        Self { message: Some(text.into()), ..Self::nothing(taint) }
    }

    pub fn response(text: impl Into<String>, taint: Taint) -> Self {
        Self { response: Some(text.into()), ..Self::nothing(taint) }
    }

    pub fn call(tool: impl Into<String>, arguments: Value, taint: Taint) -> Self {
        Self { tool: Some(tool.into()), tool_args: Some(arguments), ..Self::nothing(taint) }
    }

    /// The value at a path; whole objects where the path ends early.
    pub fn field(&self, path: &str) -> Option<Value> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let text = |text: &Option<String>| text.clone().map(Value::String).filter(|_| rest.is_none());
        let inside = |value: &Option<Value>| {
            let value = value.as_ref()?;
            rest.map_or(Some(value), |rest| rest.split('.').try_fold(value, |value, name| value.get(name))).cloned()
        };
        match first {
            "message" => text(&self.message),
            "response" => text(&self.response),
            "tool" => text(&self.tool),
            "taint" => text(&Some(self.taint.as_str().to_owned())),
            "tool_args" => inside(&self.tool_args),
            "step" => inside(&self.step),
            _ => None,
        }
    }

    /// How much there is to read, about.
    pub fn size(&self) -> usize {
        let texts = [&self.message, &self.response, &self.tool].into_iter().flatten().map(String::len);
        let values = [&self.tool_args, &self.step].into_iter().flatten().map(value_size);
        texts.chain(values).fold(0, usize::saturating_add)
    }
}

fn value_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(value_size).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + value_size(value)).sum(),
    }
}

/// A value as a rule on text sees it.
pub(super) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
