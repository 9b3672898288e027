//! OpenAI's responses, as OpenAI documents them and as llama.cpp, gateways and others imitate them. A conversation is a list
//! of items, to which an answer adds several: what was thought, what was said, each call. Nothing is left with the provider
//! (`store: false`): every request has the whole conversation, whose beginning stays the same, which is all that the
//! provider's cache needs.
//!
//! The stream tells everything up to three times: in portions, at the end of each item, and at the end of the whole. The
//! portions are what is listened to; what comes later only fills in what a server has left out before.

use std::collections::BTreeSet;

use http::{HeaderMap, header};
use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_domain::{Dialect, Message, Reasoning, Secret, StopReason, Usage};

use crate::answer::{CallPiece, Piece};
use crate::chat::Opening;
use crate::gallery::Picture;
use crate::models::Model;
use crate::text::presentable;
use crate::wire::json::{
    arguments, bearer, count, data_url, name, object_arguments, or_default, parse, raw, separated, sorted, string,
    value,
};
use crate::wire::part::{Part, parts};
use crate::wire::remote::Remote;
use crate::wire::{Decoder, Event, Fault, Trouble, Wire};

/// OpenAI itself, and servers that speak this language.
pub type Responses = Remote<ResponsesWire>;

#[derive(Debug, Default)]
pub struct ResponsesWire {
    has_items: bool,
}

impl Wire for ResponsesWire {
    type Decoder = ResponsesDecoder;

    const ENDPOINT: &'static str = "responses";
    const KEY_VARIABLE: &'static str = "LITELLM_API_KEY";

    fn headers(key: Option<&Secret>) -> Result<HeaderMap, header::InvalidHeaderValue> {
        bearer(key)
    }

    fn begin(&mut self, opening: &Opening<'_>, model: &Model, out: &mut Vec<u8>) {
        raw(out, "{\"model\":");
        string(out, opening.model);
        raw(out, ",\"stream\":true,\"store\":false");
        // A model that does not think refuses to be asked for its thoughts.
        if model.thinking.is_some() || model.reasoning.is_some() {
            raw(out, ",\"include\":[\"reasoning.encrypted_content\"]");
        }
        if let Some(effort) = model.reasoning {
            raw(out, ",\"reasoning\":{\"effort\":");
            string(out, effort.word());
            raw(out, "}");
        }
        if let Some(temperature) = opening.temperature {
            raw(out, ",\"temperature\":");
            value(out, &temperature);
        }
        if let Some(limit) = opening.max_output_tokens {
            raw(out, ",\"max_output_tokens\":");
            value(out, &limit);
        }
        if let Some(schema) = opening.answer_schema {
            raw(
                out,
                ",\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"answer\",\"strict\":false,\"schema\":",
            );
            value(out, schema);
            raw(out, "}}");
        }
        if !opening.tools.is_empty() {
            raw(out, ",\"tools\":[");
            separated(out, sorted(opening.tools), |out, tool| {
                raw(out, "{\"type\":\"function\",\"name\":");
                string(out, &tool.name);
                raw(out, ",\"description\":");
                string(out, &tool.description);
                raw(out, ",\"parameters\":");
                value(out, &tool.parameters);
                // What is not said here is `true`, which refuses every schema with something optional in it.
                raw(out, ",\"strict\":false}");
            });
            raw(out, "]");
        }
        if !opening.system.is_empty() {
            raw(out, ",\"instructions\":");
            string(out, opening.system);
        }
        raw(out, ",\"input\":[");
    }

    fn push(&mut self, message: &Message, pictures: &[Picture], out: &mut Vec<u8>) {
        match message {
            Message::User { text, .. } => {
                self.item(out, "{\"type\":\"message\",\"role\":\"user\",\"content\":");
                input(out, text, pictures);
            }
            Message::Assistant { text, calls, reasoning } => {
                let parts = parts(Dialect::OpenAiResponses, text, calls, reasoning);
                return parts.into_iter().for_each(|part| self.part(part, out));
            }
            Message::Tool(result) => {
                self.item(out, "{\"type\":\"function_call_output\",\"call_id\":");
                string(out, &result.call_id.0);
                raw(out, ",\"output\":");
                match pictures {
                    [] => string(out, &result.content),
                    _ => input(out, &result.content, pictures),
                }
            }
        }
        raw(out, "}");
    }

    fn tail(&self) -> &'static [u8] {
        b"]}"
    }
}

impl ResponsesWire {
    fn item(&mut self, out: &mut Vec<u8>, start: &str) {
        if std::mem::replace(&mut self.has_items, true) {
            raw(out, ",");
        }
        raw(out, start);
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) {
        match part {
            Part::Thought(item) => self.item(out, item),
            Part::Text(text) => {
                let start =
                    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":";
                self.item(out, start);
                string(out, text);
                raw(out, "}]}");
            }
            Part::Call(call) => {
                self.item(out, "{\"type\":\"function_call\",\"call_id\":");
                string(out, &call.call_id.0);
                raw(out, ",\"name\":");
                string(out, &name(&call.tool));
                raw(out, ",\"arguments\":");
                string(out, &object_arguments(call));
                raw(out, "}");
            }
        }
    }
}

fn input(out: &mut Vec<u8>, text: &str, pictures: &[Picture]) {
    raw(out, "[{\"type\":\"input_text\",\"text\":");
    string(out, text);
    raw(out, "}");
    for picture in pictures {
        raw(out, ",{\"type\":\"input_image\",\"image_url\":");
        data_url(out, picture);
        raw(out, "}");
    }
    raw(out, "]");
}

#[derive(Debug, Default)]
pub struct ResponsesDecoder {
    /// The ids of items, where a server does not number them.
    ids: Vec<String>,
    /// Items that were told in portions.
    told: BTreeSet<u64>,
    refused: bool,
}

/// Real indexes stay far below.
const UNNUMBERED: u64 = 1 << 32;

impl Decoder for ResponsesDecoder {
    fn event(&mut self, event: Event<'_>, pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        // It belongs to the other interface, and some end this one with it too.
        if event.data == b"[DONE]" {
            pieces.push(Piece::Done);
            return Ok(());
        }
        let wire = parse::<WireEvent<'_>>(event.data)?;
        let item = wire.item.map(Item::read).transpose()?;
        let slot = self.slot(wire.output_index, item.as_ref().map_or(&wire.item_id, |item| &item.id));
        match wire.kind.as_str() {
            "response.created" => pieces.extend(wire.response.map(|response| Piece::RequestId(response.id))),
            "response.output_item.added" => pieces.extend(item.and_then(|item| self.begin(slot, item))),
            "response.output_item.done" => item.into_iter().for_each(|item| self.complete(slot, item, pieces)),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.refused |= wire.kind == "response.refusal.delta";
                self.told.insert(slot);
                pieces.push(Piece::Text(wire.delta));
            }
            "response.function_call_arguments.delta" => {
                self.told.insert(slot);
                pieces.push(Piece::Call(CallPiece { slot, arguments: wire.delta, ..CallPiece::default() }));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.told.insert(slot);
                pieces.push(Piece::Reasoning(wire.delta));
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.end(wire.response.unwrap_or_default(), pieces)?;
            }
            "error" => return Err(failed(event.data)),
            // Beginnings and ends of parts, progress, and what may be added one day.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        let response = parse::<Response>(body)?;
        if response.output.is_none() && response.error.is_none() {
            return Err(Trouble::NotAnAnswer("it sends JSON without an answer"));
        }
        pieces.push(Piece::RequestId(response.id.clone()));
        self.end(response, pieces)
    }
}

impl ResponsesDecoder {
    fn slot(&mut self, index: Option<u64>, id: &str) -> u64 {
        if let Some(index) = index {
            return index;
        }
        let place = self.ids.iter().position(|known| known == id).unwrap_or_else(|| {
            self.ids.push(id.to_owned());
            self.ids.len() - 1
        });
        UNNUMBERED + place as u64
    }

    /// Only of a call there is something to say before its portions come. Arguments that stand here already come again at
    /// its end.
    fn begin(&mut self, slot: u64, item: Item) -> Option<Piece> {
        let is_call = item.kind == "function_call";
        is_call.then(|| Piece::Call(CallPiece { slot, id: item.call_id, tool: item.name, arguments: String::new() }))
    }

    fn complete(&mut self, slot: u64, item: Item, pieces: &mut Vec<Piece>) {
        let is_news = self.told.insert(slot);
        match item.kind.as_str() {
            "message" if is_news => {
                for part in item.content {
                    self.refused |= !part.refusal.is_empty();
                    pieces
                        .extend([part.text, part.refusal].into_iter().filter(|text| !text.is_empty()).map(Piece::Text));
                }
            }
            "function_call" => {
                let arguments = if is_news { item.arguments } else { String::new() };
                pieces.push(Piece::Call(CallPiece { slot, id: item.call_id, tool: item.name, arguments }));
            }
            "reasoning" => {
                let parts = item.summary.into_iter().chain(item.content).filter(|_| is_news);
                pieces.extend(parts.map(|part| part.text).filter(|text| !text.is_empty()).map(Piece::Reasoning));
                // Without them the provider would have to remember, which it was told not to.
                if !item.encrypted_content.is_empty() {
                    let wire = Dialect::OpenAiResponses;
                    pieces.push(Piece::Thought(Reasoning { wire, after: 0, content: item.raw }));
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, response: Response, pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        if let Some(error) = response.error.filter(|error| !error.is_null()) {
            return Err(Trouble::Fault(Fault::from_error(&error)));
        }
        // What was told in items is not listened to again.
        if self.told.is_empty() {
            for (slot, item) in (0..).zip(response.output.unwrap_or_default()) {
                self.complete(slot, Item::read(&item)?, pieces);
            }
        }
        pieces.extend(response.usage.map(|usage| Piece::Usage(usage.into())));
        let unfinished = response.incomplete_details.map(|details| details.reason);
        pieces.push(Piece::Stop(match (response.status.as_str(), unfinished) {
            ("failed" | "cancelled", _) => {
                return Err(Trouble::Garbled(format!("it is said to be {}", response.status)));
            }
            ("incomplete", reason) | (_, reason @ Some(_)) => cut_short(reason.unwrap_or_default()),
            _ if self.refused => StopReason::Refusal,
            _ => StopReason::EndTurn,
        }));
        pieces.push(Piece::Done);
        Ok(())
    }
}

fn cut_short(reason: String) -> StopReason {
    match reason.as_str() {
        "max_output_tokens" | "max_tokens" | "length" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        _ => StopReason::Other(presentable(&reason, None)),
    }
}

/// `{"type":"error","code":…,"message":…}`, or the same one level deeper.
fn failed(event: &[u8]) -> Trouble {
    match parse::<serde_json::Value>(event) {
        Ok(event) => {
            Trouble::Fault(Fault::from_error(event.get("error").filter(|error| error.is_object()).unwrap_or(&event)))
        }
        Err(trouble) => trouble,
    }
}

/// An event of any kind, with what it may have.
#[derive(Deserialize)]
struct WireEvent<'e> {
    #[serde(rename = "type")]
    kind: String,
    output_index: Option<u64>,
    #[serde(default, deserialize_with = "or_default")]
    item_id: String,
    #[serde(default, deserialize_with = "or_default")]
    delta: String,
    #[serde(borrow)]
    item: Option<&'e RawValue>,
    response: Option<Response>,
}

#[derive(Default, Deserialize)]
struct Response {
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(default, deserialize_with = "or_default")]
    status: String,
    output: Option<Vec<Box<RawValue>>>,
    usage: Option<WireUsage>,
    error: Option<serde_json::Value>,
    incomplete_details: Option<Incomplete>,
}

#[derive(Deserialize)]
struct Incomplete {
    #[serde(default, deserialize_with = "or_default")]
    reason: String,
}

/// A part of an answer of any kind, with what it may have.
#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(default, deserialize_with = "or_default")]
    content: Vec<Words>,
    #[serde(default, deserialize_with = "or_default")]
    summary: Vec<Words>,
    #[serde(default, deserialize_with = "or_default")]
    call_id: String,
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    #[serde(default, deserialize_with = "arguments")]
    arguments: String,
    #[serde(default, deserialize_with = "or_default")]
    encrypted_content: String,
    /// All of it, as it came.
    #[serde(skip)]
    raw: Box<RawValue>,
}

impl Item {
    fn read(raw: &RawValue) -> Result<Self, Trouble> {
        Ok(Self { raw: raw.to_owned(), ..parse(raw.get().as_bytes())? })
    }
}

#[derive(Deserialize)]
struct Words {
    #[serde(default, deserialize_with = "or_default")]
    text: String,
    #[serde(default, deserialize_with = "or_default")]
    refusal: String,
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(default, deserialize_with = "count")]
    input_tokens: u64,
    /// What was thought is a part of it.
    #[serde(default, deserialize_with = "count")]
    output_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    total_tokens: u64,
    #[serde(default, deserialize_with = "or_default")]
    input_tokens_details: InputDetails,
}

#[derive(Default, Deserialize)]
struct InputDetails {
    #[serde(default, deserialize_with = "count")]
    cached_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    cache_write_tokens: u64,
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        let input = wire.input_tokens;
        let cached_input = wire.input_tokens_details.cached_tokens.min(input);
        Self {
            input,
            output: wire.output_tokens.max(wire.total_tokens.saturating_sub(input)),
            cached_input,
            cache_write: wire.input_tokens_details.cache_write_tokens.min(input - cached_input),
        }
    }
}
