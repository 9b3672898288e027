//! Anthropic's messages, as Anthropic documents them; llama.cpp and others speak them too.
//!
//! Prompt caching: one breakpoint ends the system prompt, which covers the tools as well, and one ends the newest block.
//! The second moves, and so it is a part of the tail: each message is rendered but for the end of its last block, and what
//! was rendered never changes. The provider looks back twenty blocks from a breakpoint for what it has cached, which covers
//! every turn of fewer than about ten parallel calls. The automatic breakpoint at the top level of the request would be
//! shorter, but the imitators and resellers of this interface refuse it.

use http::{HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use windlass_domain::{Dialect, Message, Reasoning, Secret, StopReason, Usage};

use crate::answer::{CallPiece, Piece};
use crate::chat::Opening;
use crate::effort::Effort;
use crate::gallery::Picture;
use crate::models::{Model, Thinking};
use crate::text::presentable;
use crate::wire::base64::base64;
use crate::wire::json::{
    NOTHING, count, name, object_arguments, or_default, parse, raw, secret_header, separated, sorted, string, value,
};
use crate::wire::part::{Part, parts};
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
        let said = opening.max_output_tokens.unwrap_or_else(default);
        match (model.reasoning, opening.temperature) {
            (Some(effort), _) => thinking(out, effort, said, model),
            (None, None) => value(out, &said),
            (None, Some(temperature)) => {
                value(out, &said);
                raw(out, ",\"temperature\":");
                value(out, &temperature);
            }
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

    fn push(&mut self, message: &Message, pictures: &[Picture], out: &mut Vec<u8>) {
        match message {
            Message::User { text, .. } => {
                if !text.trim().is_empty() || pictures.is_empty() {
                    self.text_block(Speaker::User, text, out);
                }
                for picture in pictures {
                    self.begin_block(Speaker::User, out);
                    image_block(out, picture);
                }
            }
            Message::Assistant { text, calls, reasoning } => {
                for part in parts(Dialect::Anthropic, text, calls, reasoning) {
                    self.part(part, calls.is_empty(), out);
                }
            }
            Message::Tool(result) => {
                self.begin_block(Speaker::User, out);
                raw(out, "{\"type\":\"tool_result\",\"tool_use_id\":");
                string(out, &name(&result.call_id.0));
                result_content(out, &result.content, pictures);
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

    fn part(&mut self, part: Part<'_>, is_all: bool, out: &mut Vec<u8>) {
        match part {
            Part::Text(text) if text.trim().is_empty() && !is_all => {}
            Part::Text(text) => self.text_block(Speaker::Assistant, text, out),
            // As it came: it is signed.
            Part::Thought(block) => {
                self.begin_block(Speaker::Assistant, out);
                raw(out, block.trim_end().strip_suffix('}').unwrap_or(block));
            }
            Part::Call(call) => {
                self.begin_block(Speaker::Assistant, out);
                raw(out, "{\"type\":\"tool_use\",\"id\":");
                string(out, &name(&call.call_id.0));
                raw(out, ",\"name\":");
                string(out, &name(&call.tool));
                raw(out, ",\"input\":");
                raw(out, &object_arguments(call));
            }
        }
    }

    fn text_block(&mut self, speaker: Speaker, text: &str, out: &mut Vec<u8>) {
        self.begin_block(speaker, out);
        raw(out, "{\"type\":\"text\",\"text\":");
        // Text without a visible character is refused.
        string(out, if text.trim().is_empty() { NOTHING } else { text });
    }
}

/// What may be said in `said` tokens, and thought besides. Both are counted against one limit, which must be above what may be
/// thought. A model that thinks is not told how warm to be.
fn thinking(out: &mut Vec<u8>, effort: Effort, said: u32, model: &Model) {
    let most = model.max_output.unwrap_or(u32::MAX);
    let limit = said.saturating_add(effort.tokens()).min(most);
    value(out, &limit);
    if model.thinking == Some(Thinking::Adaptive) {
        raw(out, ",\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":");
        string(out, effort.word());
    } else {
        raw(out, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":");
        // What is left to be said is never nothing.
        value(out, &effort.tokens().min(limit - limit / 4));
    }
    raw(out, "}");
}

fn image_block(out: &mut Vec<u8>, picture: &Picture) {
    raw(out, "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"");
    raw(out, picture.media_type.as_str());
    raw(out, "\",\"data\":\"");
    base64(out, &picture.bytes);
    raw(out, "\"}");
}

fn result_content(out: &mut Vec<u8>, text: &str, pictures: &[Picture]) {
    if pictures.is_empty() {
        if !text.is_empty() {
            raw(out, ",\"content\":");
            string(out, text);
        }
        return;
    }
    raw(out, ",\"content\":[");
    if !text.trim().is_empty() {
        raw(out, "{\"type\":\"text\",\"text\":");
        string(out, text);
        raw(out, "},");
    }
    separated(out, pictures, |out, picture| {
        image_block(out, picture);
        raw(out, "}");
    });
    raw(out, "]");
}

#[derive(Debug, Default)]
pub struct AnthropicDecoder {
    /// The thoughts that are being told.
    thought: Option<Thought>,
}

#[derive(Debug, Default, Serialize)]
struct Thought {
    #[serde(rename = "type")]
    kind: &'static str,
    thinking: String,
    signature: String,
}

impl Thought {
    /// Without a signature it is not taken back.
    fn piece(self) -> Option<Piece> {
        (!self.signature.is_empty()).then(|| kept(&self))
    }
}

fn kept(block: &impl Serialize) -> Piece {
    let content = serde_json::value::to_raw_value(block).expect("plain values are always JSON");
    Piece::Thought(Reasoning { wire: Dialect::Anthropic, after: 0, content })
}

impl Decoder for AnthropicDecoder {
    fn event(&mut self, event: Event<'_>, pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        let event = parse::<WireEvent>(event.data)?;
        let (index, delta) = (event.index, event.delta.unwrap_or_default());
        match event.kind.as_str() {
            "message_start" => {
                let head = event.message.unwrap_or_default();
                pieces.extend([Piece::RequestId(head.id), Piece::Usage(head.usage.into())]);
            }
            "content_block_start" => {
                self.end_thought(pieces);
                event.content_block.into_iter().for_each(|block| self.block(block, index, pieces));
            }
            "content_block_delta" => {
                if let Some(thought) = &mut self.thought {
                    thought.thinking.push_str(delta.thinking.as_deref().unwrap_or_default());
                    thought.signature.push_str(delta.signature.as_deref().unwrap_or_default());
                }
                pieces.extend(delta.decode(index));
            }
            "content_block_stop" => self.end_thought(pieces),
            "message_delta" => {
                self.end_thought(pieces);
                pieces.extend(event.usage.map(|usage| Piece::Usage(usage.into())));
                pieces.extend(delta.stop_reason.map(|reason| Piece::Stop(stop_reason(reason))));
            }
            "message_stop" => pieces.push(Piece::Done),
            "error" => return Err(Trouble::Fault(Fault::from_error(&event.error.unwrap_or_default()))),
            // Pings, and what may be added one day.
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
            self.block(block, index, pieces);
            self.end_thought(pieces);
        }
        pieces.push(Piece::Usage(message.usage.into()));
        pieces.extend(message.stop_reason.map(|reason| Piece::Stop(stop_reason(reason))));
        pieces.push(Piece::Done);
        Ok(())
    }
}

impl AnthropicDecoder {
    fn block(&mut self, block: Block, slot: u64, pieces: &mut Vec<Piece>) {
        match block.kind.as_str() {
            "text" if !block.text.is_empty() => pieces.push(Piece::Text(block.text)),
            "thinking" => {
                let shown = Some(block.thinking.clone()).filter(|thinking| !thinking.is_empty());
                pieces.extend(shown.map(Piece::Reasoning));
                self.thought = Some(Thought { kind: "thinking", thinking: block.thinking, signature: block.signature });
            }
            "redacted_thinking" => pieces.push(kept(&Hidden { kind: "redacted_thinking", data: block.data })),
            "tool_use" => {
                // A block that will be streamed begins with an empty object, which is not the beginning of its arguments.
                let input = block.input.map(|input| input.get().to_owned()).filter(|input| !is_empty_object(input));
                let arguments = input.unwrap_or_default();
                pieces.push(Piece::Call(CallPiece { slot, id: block.id, tool: block.name, arguments }));
            }
            _ => {}
        }
    }

    /// Servers exist that do not say where a block ends.
    fn end_thought(&mut self, pieces: &mut Vec<Piece>) {
        pieces.extend(self.thought.take().and_then(Thought::piece));
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
    signature: String,
    #[serde(default, deserialize_with = "or_default")]
    data: String,
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    input: Option<Box<RawValue>>,
}

fn is_empty_object(json: &str) -> bool {
    json.bytes().filter(|byte| !byte.is_ascii_whitespace()).eq(*b"{}")
}

/// Thoughts that only the provider can read.
#[derive(Serialize)]
struct Hidden {
    #[serde(rename = "type")]
    kind: &'static str,
    data: String,
}

/// What a block grows by, or how the message ends. Citations are of no use to us.
#[derive(Default, Deserialize)]
struct WireDelta {
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
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
