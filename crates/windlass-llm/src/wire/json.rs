//! Small things for writing and reading providers' JSON.

use std::borrow::Cow;

use http::{HeaderMap, HeaderValue, header};
use serde::{Deserialize, Deserializer};
use windlass_domain::{Secret, ToolCall, ToolSpec};

use crate::gallery::Picture;
use crate::wire::Trouble;
use crate::wire::base64::base64;

/// What must not be empty says this where it is.
pub const NOTHING: &str = "(nothing)";

pub fn raw(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

pub fn string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a string is always JSON, and memory takes it");
}

/// Numbers and schemas.
pub fn value(out: &mut Vec<u8>, value: &impl serde::Serialize) {
    serde_json::to_writer(out, value).expect("plain values are always JSON, and memory takes them");
}

/// Providers take nothing but an object here, and refuse the whole conversation over one call that has something else:
/// what a model got wrong goes back to it inside of one.
pub fn object_arguments(call: &ToolCall) -> Cow<'_, str> {
    let arguments = call.arguments.get().trim();
    if arguments.starts_with('{') {
        return Cow::Borrowed(arguments);
    }
    Cow::Owned(format!("{{\"invalid_arguments\":{arguments}}}"))
}

/// A tool's or call's name in the characters that every provider takes. A model may invent a name that its own provider
/// would then refuse to hear again.
pub fn name(text: &str) -> Cow<'_, str> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !text.is_empty() && text.len() <= 64 && text.chars().all(is_fine) {
        return Cow::Borrowed(text);
    }
    let clean = text.chars().map(|c| if is_fine(c) { c } else { '_' }).take(64).collect::<String>();
    Cow::Owned(if clean.is_empty() { "_".to_owned() } else { clean })
}

pub fn sorted(tools: &[ToolSpec]) -> Vec<&ToolSpec> {
    let mut sorted = tools.iter().collect::<Vec<_>>();
    sorted.sort_by(|one, other| one.name.cmp(&other.name));
    sorted
}

/// A picture as OpenAI's interfaces take it, in quotes.
pub fn data_url(out: &mut Vec<u8>, picture: &Picture) {
    raw(out, "\"data:");
    raw(out, picture.media_type.as_str());
    raw(out, ";base64,");
    base64(out, &picture.bytes);
    raw(out, "\"");
}

/// Commas between items; before the first there is none.
pub fn separated<T>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Vec<u8>, T)) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
}

/// As both of OpenAI's interfaces want it.
pub fn bearer(key: Option<&Secret>) -> Result<HeaderMap, header::InvalidHeaderValue> {
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        headers.insert(header::AUTHORIZATION, secret_header("Bearer {}", key)?);
    }
    Ok(headers)
}

pub fn secret_header(value: &str, key: &Secret) -> Result<HeaderValue, http::header::InvalidHeaderValue> {
    let mut header = HeaderValue::from_str(&value.replace("{}", key.expose().trim()))?;
    header.set_sensitive(true);
    Ok(header)
}

pub fn parse<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, Trouble> {
    serde_json::from_slice(json).map_err(|error| Trouble::Garbled(error.to_string()))
}

/// Counts come as integers, as floats and as null.
pub fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "float casts saturate")]
    let count = Option::<f64>::deserialize(deserializer)?.map_or(0, |count| count as u64);
    Ok(count)
}

/// Absent and null are the same to us.
pub fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Text that some servers send as a list of parts.
#[derive(Debug, Default)]
pub struct Content {
    pub text: String,
    pub thinking: String,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Content;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("text, or a list of parts")
            }

            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                Ok(Content { text: text.to_owned(), thinking: String::new() })
            }

            fn visit_unit<E>(self) -> Result<Content, E> {
                Ok(Content::default())
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut parts: A) -> Result<Content, A::Error> {
                let mut content = Content::default();
                while let Some(part) = parts.next_element::<Part>()? {
                    content.text.push_str(&part.text);
                    content.thinking.push_str(&part.thinking.text);
                }
                Ok(content)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[derive(Deserialize)]
struct Part {
    #[serde(default, deserialize_with = "or_default")]
    text: String,
    #[serde(default)]
    thinking: Box<Content>,
}

/// Arguments as text that holds JSON, or as the JSON itself.
pub fn arguments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
    let text = raw.get();
    if text == "null" {
        return Ok(String::new());
    }
    if text.starts_with('"') {
        return serde_json::from_str(text).map_err(serde::de::Error::custom);
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_providers_refuse_are_changed() {
        assert_eq!(name("read_file-2"), "read_file-2");
        assert_eq!(name("mcp.server/tool é"), "mcp_server_tool__");
        assert_eq!(name(""), "_");
        assert_eq!(name(&"x".repeat(100)).len(), 64);
    }

    #[test]
    fn arguments_that_are_no_object_go_into_one() {
        let check = |arguments: &str, expect: &str| {
            let call = ToolCall::new("a", "t", arguments);
            assert_eq!(object_arguments(&call), expect);
            assert!(serde_json::from_str::<serde_json::Map<_, _>>(expect).is_ok());
        };
        check("{\"a\":1}", "{\"a\":1}");
        check("[1]", "{\"invalid_arguments\":[1]}");
        check("{broken", "{\"invalid_arguments\":\"{broken\"}");
    }
}
