//! OpenAI's chat completions, as OpenAI documents them and as the many servers that imitate them really answer. The
//! provider caches prompts by itself; all it needs is that the beginning stays the same.

use http::{HeaderMap, header};
use serde::Deserialize;
use windlass_domain::{Message, Secret, StopReason, Usage};

use crate::answer::{CallPiece, Piece};
use crate::chat::Opening;
use crate::models::Model;
use crate::text::presentable;
use crate::wire::json::{
    Content, arguments, bearer, count, name, object_arguments, or_default, parse, raw, separated, sorted, string, value,
};
use crate::wire::remote::Remote;
use crate::wire::{Decoder, Event, Fault, Trouble, Wire};

/// OpenAI itself, LiteLLM, vLLM, llama.cpp, Ollama and many others.
pub type OpenAi = Remote<OpenAiWire>;

#[derive(Debug, Default)]
pub struct OpenAiWire;

impl Wire for OpenAiWire {
    type Decoder = OpenAiDecoder;

    const ENDPOINT: &'static str = "chat/completions";
    const KEY_VARIABLE: &'static str = "LITELLM_API_KEY";

    fn headers(key: Option<&Secret>) -> Result<HeaderMap, header::InvalidHeaderValue> {
        bearer(key)
    }

    fn begin(&mut self, opening: &Opening<'_>, model: &Model, out: &mut Vec<u8>) {
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

    fn push(&mut self, message: &Message, out: &mut Vec<u8>) {
        match message {
            Message::User { text } => {
                raw(out, ",{\"role\":\"user\",\"content\":");
                string(out, text);
            }
            Message::Assistant { text, calls } => {
                raw(out, ",{\"role\":\"assistant\",\"content\":");
                if text.is_empty() && !calls.is_empty() {
                    raw(out, "null");
                } else {
                    string(out, text);
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
            }
        }
        raw(out, "}");
    }

    fn tail(&self) -> &'static [u8] {
        b"]}"
    }
}

#[derive(Debug, Default)]
pub struct OpenAiDecoder {
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
        let thoughts = [said.reasoning_content, said.reasoning, said.content.thinking];
        pieces.extend(thoughts.into_iter().find(not_empty).map(Piece::Reasoning));
        pieces.extend([said.content.text, said.refusal].into_iter().filter(not_empty).map(Piece::Text));
        for call in said.tool_calls {
            let slot = call.index.unwrap_or_else(|| {
                self.unnumbered += u64::from(!call.function.name.is_empty());
                UNNUMBERED + self.unnumbered
            });
            let CallDelta { id, function, .. } = call;
            pieces.push(Piece::Call(CallPiece { slot, id, tool: function.name, arguments: function.arguments }));
        }
        pieces.extend(choice.finish_reason.filter(not_empty).map(|reason| Piece::Stop(stop_reason(reason))));
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
