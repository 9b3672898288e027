//! What a tool answered, as text for a model. Pictures and sounds are named, not shown. Pure.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    /// The tool says that it failed.
    pub is_error: bool,
}

impl Answer {
    pub fn read(result: &Value) -> Self {
        let parts: Vec<String> = result["content"].as_array().into_iter().flatten().map(part).collect();
        let text = match &result["structuredContent"] {
            structured if parts.is_empty() && !structured.is_null() => structured.to_string(),
            _ => parts.join("\n\n"),
        };
        let text = if text.trim().is_empty() { "(no text)".to_owned() } else { text };
        Self { text, is_error: result["isError"].as_bool().unwrap_or_default() }
    }
}

fn part(part: &Value) -> String {
    let text = |field: &str| part[field].as_str().unwrap_or_default();
    match text("type") {
        "text" => text("text").to_owned(),
        kind @ ("image" | "audio") => {
            format!("[{kind} of type {}, {} letters of base64: not shown]", text("mimeType"), text("data").len())
        }
        "resource" => resource(&part["resource"]),
        "resource_link" => format!("[link: {} {}]", text("name"), text("uri")),
        other => format!("[content of the unknown type `{other}`: not shown]"),
    }
}

fn resource(resource: &Value) -> String {
    let uri = resource["uri"].as_str().unwrap_or_default();
    match resource["text"].as_str() {
        Some(text) => format!("[resource {uri}]\n{text}"),
        None => format!("[resource {uri}: not text, not shown]"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(result: &Value) -> String {
        Answer::read(result).text
    }

    #[test]
    fn every_kind_of_content_says_something() {
        let result = json!({"content": [
            {"type": "text", "text": "hi"},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "resource", "resource": {"uri": "a:1", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "a:2", "blob": "AAAA"}},
            {"type": "resource_link", "name": "n", "uri": "a:3"},
            {"type": "smell"},
        ], "structuredContent": {"a": 1}});
        assert_eq!(
            text(&result),
            "hi\n\n[image of type image/png, 4 letters of base64: not shown]\n\n[resource a:1]\ninside\n\n\
             [resource a:2: not text, not shown]\n\n[link: n a:3]\n\n[content of the unknown type `smell`: not shown]"
        );
        assert_eq!(text(&json!({"content": [], "structuredContent": {"a": 1}})), r#"{"a":1}"#);
        assert_eq!(text(&json!({})), "(no text)");
    }

    #[test]
    fn a_tool_that_failed_says_so() {
        assert!(Answer::read(&json!({"content": [], "isError": true})).is_error);
        assert!(!Answer::read(&json!({"content": []})).is_error);
    }
}
