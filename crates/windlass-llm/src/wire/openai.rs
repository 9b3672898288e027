//! OpenAI's chat completions, as OpenAI documents them and as the many servers that imitate them really answer. The
//! provider caches prompts by itself; all it needs is that the beginning stays the same.

use http::{HeaderMap, header};
use serde::Deserialize;
use windlass_domain::{Dialect, Message, Reasoning, Secret, StopReason, ToolCall, Usage};

use crate::answer::{CallPiece, Piece};
use crate::chat::Opening;
use crate::gallery::Picture;
use crate::models::Model;
use crate::text::presentable;
use crate::wire::json::{
    Content, arguments, bearer, count, data_url, name, object_arguments, or_default, parse, raw, separated, sorted,
    string, value,
};
use crate::wire::remote::Remote;
use crate::wire::{Decoder, Event, Fault, Trouble, Wire};

/// OpenAI itself, LiteLLM, vLLM, llama.cpp, Ollama and many others.
pub type OpenAi = Remote<OpenAiWire>;

#[derive(Debug, Default)]
pub struct OpenAiWire {
    /// Whether the server wants to hear again what it thought.
    reasoning_content: bool,
    /// Calls whose results are still to come. Nothing may stand between a call's results.
    results_due: usize,
    /// Pictures of those results, rendered. A result takes text only, so that they follow in a message of the user's.
    pictures_due: Vec<u8>,
}

impl Wire for OpenAiWire {
    type Decoder = OpenAiDecoder;

    const ENDPOINT: &'static str = "chat/completions";
    const KEY_VARIABLE: &'static str = "LITELLM_API_KEY";

    fn headers(key: Option<&Secret>) -> Result<HeaderMap, header::InvalidHeaderValue> {
        bearer(key)
    }

    fn begin(&mut self, opening: &Opening<'_>, model: &Model, out: &mut Vec<u8>) {
        self.reasoning_content = model.reasoning_content;
        raw(out, "{\"model\":");
        string(out, opening.model);
        raw(out, ",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
        if let Some(temperature) = opening.temperature {
            raw(out, ",\"temperature\":");
            value(out, &temperature);
        }
        if let Some(limit) = opening.max_output_tokens {
            raw(
                out,
                if model.takes_max_completion_tokens { ",\"max_completion_tokens\":" } else { ",\"max_tokens\":" },
            );
            value(out, &limit);
        }
        if let Some(effort) = model.reasoning {
            raw(out, ",\"reasoning_effort\":");
            string(out, effort.word());
        }
        if let Some(schema) = opening.answer_schema {
            raw(out, ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"answer\",\"schema\":");
            value(out, schema);
            raw(out, "}}");
        }
        if !opening.tools.is_empty() {
            raw(out, ",\"tools\":[");
            separated(out, sorted(opening.tools), |out, tool| {
                raw(out, "{\"type\":\"function\",\"function\":{\"name\":");
                string(out, &tool.name);
                raw(out, ",\"description\":");
                string(out, &tool.description);
                raw(out, ",\"parameters\":");
                value(out, &tool.parameters);
                raw(out, "}}");
            });
            raw(out, "]");
        }
        raw(out, ",\"messages\":[{\"role\":\"system\",\"content\":");
        string(out, opening.system);
        raw(out, "}");
    }

    fn push(&mut self, message: &Message, pictures: &[Picture], out: &mut Vec<u8>) {
        if !matches!(message, Message::Tool(_)) {
            self.show_pictures(out);
        }
        match message {
            Message::User { text, .. } => {
                raw(out, ",{\"role\":\"user\",\"content\":");
                if pictures.is_empty() {
                    string(out, text);
                } else {
                    raw(out, "[{\"type\":\"text\",\"text\":");
                    string(out, text);
                    raw(out, "}");
                    pictures.iter().for_each(|picture| image_part(out, picture));
                    raw(out, "]");
                }
            }
            Message::Assistant { text, calls, reasoning } => {
                self.results_due = calls.len();
                raw(out, ",{\"role\":\"assistant\",\"content\":");
                if text.is_empty() && !calls.is_empty() {
                    raw(out, "null");
                } else {
                    string(out, text);
                }
                if self.reasoning_content {
                    thoughts(out, calls, reasoning);
                }
                if !calls.is_empty() {
                    raw(out, ",\"tool_calls\":[");
                    separated(out, calls, |out, call| {
                        raw(out, "{\"id\":");
                        string(out, &call.call_id.0);
                        raw(out, ",\"type\":\"function\",\"function\":{\"name\":");
                        string(out, &name(&call.tool));
                        raw(out, ",\"arguments\":");
                        string(out, &object_arguments(call));
                        raw(out, "}}");
                    });
                    raw(out, "]");
                }
            }
            Message::Tool(result) => {
                raw(out, ",{\"role\":\"tool\",\"tool_call_id\":");
                string(out, &result.call_id.0);
                raw(out, ",\"content\":");
                string(out, &result.content);
                pictures.iter().for_each(|picture| image_part(&mut self.pictures_due, picture));
                self.results_due = self.results_due.saturating_sub(1);
            }
        }
        raw(out, "}");
        if self.results_due == 0 {
            self.show_pictures(out);
        }
    }

    fn tail(&self) -> &'static [u8] {
        b"]}"
    }
}

impl OpenAiWire {
    fn show_pictures(&mut self, out: &mut Vec<u8>) {
        if self.pictures_due.is_empty() {
            return;
        }
        raw(out, ",{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[images of the results above]\"}");
        out.append(&mut self.pictures_due);
        raw(out, "]}");
    }
}

/// With the comma before it.
fn image_part(out: &mut Vec<u8>, picture: &Picture) {
    raw(out, ",{\"type\":\"image_url\",\"image_url\":{\"url\":");
    data_url(out, picture);
    raw(out, "}}");
}

/// As one field, whose name the server has chosen. Of an answer with calls it must be there even when nothing was thought.
fn thoughts(out: &mut Vec<u8>, calls: &[ToolCall], reasoning: &[Reasoning]) {
    let own = reasoning.iter().find(|thought| thought.wire == Dialect::OpenAi).map(|thought| thought.content.get());
    let field = own.and_then(|object| object.strip_prefix('{')?.strip_suffix('}'));
    match field {
        Some(field) => {
            raw(out, ",");
            raw(out, field);
        }
        None if !calls.is_empty() => raw(out, ",\"reasoning_content\":\"\""),
        None => {}
    }
}

#[derive(Debug, Default)]
pub struct OpenAiDecoder {
    /// What was thought, and the name of the field in which it came.
    thought: String,
    thought_field: &'static str,
    /// Servers that number nothing put each call into a piece of its own.
    unnumbered: u64,
}

/// Real indexes stay far below.
const UNNUMBERED: u64 = 1 << 32;

impl Decoder for OpenAiDecoder {
    fn event(&mut self, event: Event<'_>, pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        if event.data == b"[DONE]" {
            pieces.push(Piece::Done);
            return Ok(());
        }
        self.decode(event.data, pieces)
    }

    fn whole(&mut self, body: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        let before = pieces.len();
        self.decode(body, pieces)?;
        let has_answer = pieces[before..].iter().any(|piece| !matches!(piece, Piece::RequestId(_)));
        if !has_answer {
            return Err(Trouble::NotAnAnswer("it sends JSON without an answer"));
        }
        pieces.push(Piece::Done);
        Ok(())
    }
}

impl OpenAiDecoder {
    fn decode(&mut self, json: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        let chunk = parse::<Chunk>(json)?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(Trouble::Fault(Fault::from_error(&error)));
        }
        pieces.extend(Some(chunk.id).filter(|id| !id.is_empty()).map(Piece::RequestId));
        if let Some(usage) = chunk.usage {
            pieces.push(Piece::Usage(usage.into()));
        }
        // Only one answer was asked for.
        if let Some(choice) = chunk.choices.into_iter().next() {
            self.decode_choice(choice, pieces);
        }
        Ok(())
    }

    fn decode_choice(&mut self, choice: Choice, pieces: &mut Vec<Piece>) {
        let said = choice.delta.or(choice.message).unwrap_or_default();
        let not_empty = |text: &String| !text.is_empty();
        let thoughts = [
            ("reasoning_content", said.reasoning_content),
            ("reasoning", said.reasoning),
            ("reasoning_content", said.content.thinking),
        ];
        if let Some((field, thought)) = thoughts.into_iter().find(|(_, thought)| not_empty(thought)) {
            self.thought_field = field;
            self.thought.push_str(&thought);
            pieces.push(Piece::Reasoning(thought));
        }
        pieces.extend([said.content.text, said.refusal].into_iter().filter(not_empty).map(Piece::Text));
        for call in said.tool_calls {
            let slot = call.index.unwrap_or_else(|| {
                self.unnumbered += u64::from(!call.function.name.is_empty());
                UNNUMBERED + self.unnumbered
            });
            let CallDelta { id, function, .. } = call;
            pieces.push(Piece::Call(CallPiece { slot, id, tool: function.name, arguments: function.arguments }));
        }
        if let Some(reason) = choice.finish_reason.filter(not_empty) {
            pieces.extend(self.end_thought());
            pieces.push(Piece::Stop(stop_reason(reason)));
        }
    }

    fn end_thought(&mut self) -> Option<Piece> {
        let thought = std::mem::take(&mut self.thought);
        (!thought.is_empty()).then(|| {
            let content = serde_json::value::to_raw_value(&serde_json::json!({ self.thought_field: thought }));
            let content = content.expect("plain values are always JSON");
            Piece::Thought(Reasoning { wire: Dialect::OpenAi, after: 0, content })
        })
    }
}

fn stop_reason(reason: String) -> StopReason {
    match reason.as_str() {
        "stop" | "end_turn" | "eos" => StopReason::EndTurn,
        "tool_calls" | "function_call" | "tool_use" => StopReason::ToolCalls,
        "length" | "max_tokens" => StopReason::MaxTokens,
        "content_filter" | "refusal" => StopReason::Refusal,
        _ => StopReason::Other(presentable(&reason, None)),
    }
}

/// A chunk of a stream, or a whole answer: the same but for `delta` and `message`.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(default, deserialize_with = "or_default")]
    choices: Vec<Choice>,
    usage: Option<WireUsage>,
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Said>,
    message: Option<Said>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Said {
    #[serde(default)]
    content: Content,
    #[serde(default, deserialize_with = "or_default")]
    refusal: String,
    #[serde(default, deserialize_with = "or_default")]
    reasoning_content: String,
    #[serde(default, deserialize_with = "or_default")]
    reasoning: String,
    #[serde(default, deserialize_with = "or_default")]
    tool_calls: Vec<CallDelta>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<u64>,
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(default, deserialize_with = "or_default")]
    function: FunctionDelta,
}

#[derive(Default, Deserialize)]
struct FunctionDelta {
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    #[serde(default, deserialize_with = "arguments")]
    arguments: String,
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(default, deserialize_with = "count")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    completion_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    total_tokens: u64,
    #[serde(default, deserialize_with = "or_default")]
    prompt_tokens_details: PromptDetails,
    /// LiteLLM's, for Anthropic's models.
    #[serde(default, deserialize_with = "count")]
    cache_read_input_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    cache_creation_input_tokens: u64,
    /// DeepSeek's.
    #[serde(default, deserialize_with = "count")]
    prompt_cache_hit_tokens: u64,
}

#[derive(Default, Deserialize)]
struct PromptDetails {
    #[serde(default, deserialize_with = "count")]
    cached_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    cache_write_tokens: u64,
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        let input = wire.prompt_tokens;
        let reads =
            [wire.prompt_tokens_details.cached_tokens, wire.cache_read_input_tokens, wire.prompt_cache_hit_tokens];
        let cached_input = reads.into_iter().max().unwrap_or(0).min(input);
        let writes = wire.prompt_tokens_details.cache_write_tokens.max(wire.cache_creation_input_tokens);
        Self {
            input,
            // Some count the tokens of reasoning, which are paid for, in the total alone.
            output: wire.completion_tokens.max(wire.total_tokens.saturating_sub(input)),
            cached_input,
            cache_write: writes.min(input - cached_input),
        }
    }
}
