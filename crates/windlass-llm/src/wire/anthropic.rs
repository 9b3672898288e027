//! Anthropic's messages, as Anthropic documents them; llama.cpp and others speak them too.
//!
//! Prompt caching: one breakpoint ends the system prompt, which covers the tools as well, and one ends the newest block.
//! The second moves, and so it is a part of the tail: each message is rendered but for the end of its last block, and what
//! was rendered never changes. The provider looks back twenty blocks from a breakpoint for what it has cached, which covers
//! every turn of fewer than about ten parallel calls. The automatic breakpoint at the top level of the request would be
//! shorter, but the imitators and resellers of this interface refuse it.

use http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_domain::{Message, Secret, StopReason, Usage};

use crate::answer::{CallPiece, Piece};
use crate::chat::Opening;
use crate::models::Model;
use crate::text::presentable;
use crate::wire::json::{
    NOTHING, count, name, object_arguments, or_default, parse, raw, secret_header, separated, sorted, string, value,
};
use crate::wire::remote::Remote;
use crate::wire::{Decoder, Event, Fault, Trouble, Wire};

/// The interface insists on a limit. It counts against the context window from the start, so the longest answer that a model
/// could give would cost a conversation its last third; this is long enough for a large file.
const DEFAULT_MAX_TOKENS: u32 = 16_384;

/// Anthropic itself, and servers that speak its language.
pub type Anthropic = Remote<AnthropicWire>;

#[derive(Debug, Default)]
pub struct AnthropicWire {
    /// Whose message is open, its last block lacking its end.
    open: Option<Speaker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
}

impl Wire for AnthropicWire {
    type Decoder = AnthropicDecoder;

    const ENDPOINT: &'static str = "messages";
    const KEY_VARIABLE: &'static str = "ANTHROPIC_API_KEY";

    fn headers(key: Option<&Secret>) -> Result<HeaderMap, http::header::InvalidHeaderValue> {
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        if let Some(key) = key {
            headers.insert("x-api-key", secret_header("{}", key)?);
        }
        Ok(headers)
    }

    fn begin(&mut self, opening: &Opening<'_>, model: &Model, out: &mut Vec<u8>) {
        raw(out, "{\"model\":");
        string(out, opening.model);
        raw(out, ",\"stream\":true,\"max_tokens\":");
        let default = || model.max_output.map_or(DEFAULT_MAX_TOKENS, |most| most.min(DEFAULT_MAX_TOKENS));
        value(out, &opening.max_output_tokens.unwrap_or_else(default));
        if let Some(temperature) = opening.temperature {
            raw(out, ",\"temperature\":");
            value(out, &temperature);
        }
        if !opening.tools.is_empty() {
            raw(out, ",\"tools\":[");
            separated(out, sorted(opening.tools), |out, tool| {
                raw(out, "{\"name\":");
                string(out, &tool.name);
                raw(out, ",\"description\":");
                string(out, &tool.description);
                raw(out, ",\"input_schema\":");
                value(out, &tool.parameters);
                raw(out, "}");
            });
            raw(out, "]");
        }
        if !opening.system.trim().is_empty() {
            raw(out, ",\"system\":[{\"type\":\"text\",\"text\":");
            string(out, opening.system);
            raw(out, ",\"cache_control\":{\"type\":\"ephemeral\"}}]");
        }
        raw(out, ",\"messages\":[");
    }

    fn push(&mut self, message: &Message, out: &mut Vec<u8>) {
        match message {
            Message::User { text } => self.text_block(Speaker::User, text, out),
            Message::Assistant { text, calls } => {
                if !text.trim().is_empty() || calls.is_empty() {
                    self.text_block(Speaker::Assistant, text, out);
                }
                for call in calls {
                    self.begin_block(Speaker::Assistant, out);
                    raw(out, "{\"type\":\"tool_use\",\"id\":");
                    string(out, &name(&call.call_id.0));
                    raw(out, ",\"name\":");
                    string(out, &name(&call.tool));
                    raw(out, ",\"input\":");
                    raw(out, &object_arguments(call));
                }
            }
            Message::Tool(result) => {
                self.begin_block(Speaker::User, out);
                raw(out, "{\"type\":\"tool_result\",\"tool_use_id\":");
                string(out, &name(&result.call_id.0));
                if !result.content.is_empty() {
                    raw(out, ",\"content\":");
                    string(out, &result.content);
                }
                if result.is_error {
                    raw(out, ",\"is_error\":true");
                }
            }
        }
    }

    fn tail(&self) -> &'static [u8] {
        match self.open {
            None => b"]}",
            Some(_) => b",\"cache_control\":{\"type\":\"ephemeral\"}}]}]}",
        }
    }
}

impl AnthropicWire {
    /// The results of parallel calls must stand in one message, so blocks of one speaker go into one.
    fn begin_block(&mut self, speaker: Speaker, out: &mut Vec<u8>) {
        let before = self.open.replace(speaker);
        if before == Some(speaker) {
            return raw(out, "},");
        }
        raw(out, if before.is_some() { "}]}," } else { "" });
        raw(
            out,
            match speaker {
                Speaker::User => "{\"role\":\"user\",\"content\":[",
                Speaker::Assistant => "{\"role\":\"assistant\",\"content\":[",
            },
        );
    }

    fn text_block(&mut self, speaker: Speaker, text: &str, out: &mut Vec<u8>) {
        self.begin_block(speaker, out);
        raw(out, "{\"type\":\"text\",\"text\":");
        // Text without a visible character is refused.
        string(out, if text.trim().is_empty() { NOTHING } else { text });
    }
}

#[derive(Debug, Default)]
pub struct AnthropicDecoder;

impl Decoder for AnthropicDecoder {
    fn event(&mut self, event: Event<'_>, pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        let event = parse::<WireEvent>(event.data)?;
        let (index, delta) = (event.index, event.delta.unwrap_or_default());
        match event.kind.as_str() {
            "message_start" => {
                let head = event.message.unwrap_or_default();
                pieces.extend([Piece::RequestId(head.id), Piece::Usage(head.usage.into())]);
            }
            "content_block_start" => event.content_block.into_iter().for_each(|block| block.decode(index, pieces)),
            "content_block_delta" => pieces.extend(delta.decode(index)),
            "message_delta" => {
                pieces.extend(event.usage.map(|usage| Piece::Usage(usage.into())));
                pieces.extend(delta.stop_reason.map(|reason| Piece::Stop(stop_reason(reason))));
            }
            "message_stop" => pieces.push(Piece::Done),
            "error" => return Err(Trouble::Fault(Fault::from_error(&event.error.unwrap_or_default()))),
            // Pings, ends of blocks, and what may be added one day.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        let message = match parse::<WholeAnswer>(body)? {
            WholeAnswer { error: Some(error), .. } => return Err(Trouble::Fault(Fault::from_error(&error))),
            WholeAnswer { content: None, .. } => return Err(Trouble::NotAnAnswer("it sends JSON without an answer")),
            message => message,
        };
        pieces.push(Piece::RequestId(message.id));
        for (index, block) in (0..).zip(message.content.unwrap_or_default()) {
            block.decode(index, pieces);
        }
        pieces.push(Piece::Usage(message.usage.into()));
        pieces.extend(message.stop_reason.map(|reason| Piece::Stop(stop_reason(reason))));
        pieces.push(Piece::Done);
        Ok(())
    }
}

fn stop_reason(reason: String) -> StopReason {
    match reason.as_str() {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refusal,
        _ => StopReason::Other(presentable(&reason, None)),
    }
}

/// An event of any kind, with what it may have.
#[derive(Deserialize)]
struct WireEvent {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    index: u64,
    message: Option<MessageHead>,
    content_block: Option<Block>,
    delta: Option<WireDelta>,
    usage: Option<WireUsage>,
    error: Option<serde_json::Value>,
}

#[derive(Default, Deserialize)]
struct MessageHead {
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(default, deserialize_with = "or_default")]
    usage: WireUsage,
}

#[derive(Deserialize)]
struct WholeAnswer {
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    content: Option<Vec<Block>>,
    stop_reason: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    usage: WireUsage,
    error: Option<serde_json::Value>,
}

/// A block as it begins, or whole. Its kind is told by what it has.
#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, deserialize_with = "or_default")]
    text: String,
    #[serde(default, deserialize_with = "or_default")]
    thinking: String,
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    input: Option<Box<RawValue>>,
}

impl Block {
    fn decode(self, slot: u64, pieces: &mut Vec<Piece>) {
        match self.kind.as_str() {
            "text" if !self.text.is_empty() => pieces.push(Piece::Text(self.text)),
            "thinking" if !self.thinking.is_empty() => pieces.push(Piece::Reasoning(self.thinking)),
            "tool_use" => {
                // A block that will be streamed begins with an empty object, which is not the beginning of its arguments.
                let input = self.input.map(|input| input.get().to_owned()).filter(|input| !is_empty_object(input));
                let arguments = input.unwrap_or_default();
                pieces.push(Piece::Call(CallPiece { slot, id: self.id, tool: self.name, arguments }));
            }
            _ => {}
        }
    }
}

fn is_empty_object(json: &str) -> bool {
    json.bytes().filter(|byte| !byte.is_ascii_whitespace()).eq(*b"{}")
}

/// What a block grows by, or how the message ends. Signatures and citations are of no use to us.
#[derive(Default, Deserialize)]
struct WireDelta {
    text: Option<String>,
    thinking: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

impl WireDelta {
    fn decode(self, slot: u64) -> Option<Piece> {
        let call = |arguments| Piece::Call(CallPiece { slot, arguments, ..CallPiece::default() });
        let text = self.text.map(Piece::Text);
        text.or(self.thinking.map(Piece::Reasoning)).or(self.partial_json.map(call))
    }
}

#[derive(Default, Deserialize)]
struct WireUsage {
    #[serde(default, deserialize_with = "count")]
    input_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    output_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    cache_read_input_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    cache_creation_input_tokens: u64,
}

impl From<WireUsage> for Usage {
    /// Here the cached parts are apart from the input; with us they are parts of it.
    fn from(wire: WireUsage) -> Self {
        Self {
            input: wire.input_tokens + wire.cache_read_input_tokens + wire.cache_creation_input_tokens,
            output: wire.output_tokens,
            cached_input: wire.cache_read_input_tokens,
            cache_write: wire.cache_creation_input_tokens,
        }
    }
}
