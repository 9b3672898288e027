//! The conversation as the loop keeps it, in no provider's format: each wire of `windlass-llm` renders it its own way.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::image::Image;

/// One entry of a conversation after the system prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    User {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    Assistant {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasoning: Vec<Reasoning>,
    },
    Tool(ToolResult),
}

impl Message {
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }

    pub fn assistant(text: impl Into<String>, calls: Vec<ToolCall>) -> Self {
        Self::Assistant { text: text.into(), calls, reasoning: Vec::new() }
    }

    pub fn images(&self) -> &[Image] {
        match self {
            Self::User { images, .. } | Self::Tool(ToolResult { images, .. }) => images,
            Self::Assistant { .. } => &[],
        }
    }
}

/// Something that a model thought, exactly as its provider wants it back. It belongs to one wire and is nobody's words: it
/// is never shown as the agent's, and no other provider is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reasoning {
    pub wire: Dialect,
    /// How many parts of the answer came before it: its text, then each of its calls.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub after: usize,
    pub content: Box<RawValue>,
}

/// Whose way of writing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    #[serde(rename = "openai")]
    OpenAi,
    #[serde(rename = "openai_responses")]
    OpenAiResponses,
    Anthropic,
}

impl PartialEq for Reasoning {
    fn eq(&self, other: &Self) -> bool {
        (self.wire, self.after, self.content.get()) == (other.wire, other.after, other.content.get())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
const fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// A JSON schema.
    pub parameters: serde_json::Value,
}

/// What a model asks for. `arguments` is the model's own text where it was valid JSON; text that was not arrives as a
/// JSON string, which no tool's schema accepts, so that the model is told and nothing is lost.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within an execution.
    pub call_id: CallId,
    pub tool: String,
    pub arguments: Box<RawValue>,
}

impl ToolCall {
    pub fn new(call_id: impl Into<String>, tool: impl Into<String>, arguments: &str) -> Self {
        let arguments = RawValue::from_string(arguments.to_owned())
            .unwrap_or_else(|_| serde_json::value::to_raw_value(arguments).expect("a string is always JSON"));
        Self { call_id: CallId(call_id.into()), tool: tool.into(), arguments }
    }
}

impl PartialEq for ToolCall {
    fn eq(&self, other: &Self) -> bool {
        self.call_id == other.call_id && self.tool == other.tool && self.arguments.get() == other.arguments.get()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

impl std::fmt::Display for CallId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the model is told about one call: exactly one for each, before the next request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call_id: CallId,
    pub tool: String,
    pub content: String,
    pub is_error: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

/// Why a model stopped talking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolCalls,
    MaxTokens,
    Refusal,
    Other(String),
}
