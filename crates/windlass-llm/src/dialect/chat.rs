//! Writes an answer in the form of OpenAI's chat completions, as events or whole. Nothing in it depends on time.

use serde_json::json;
use windlass_domain::{StopReason, Usage};

use crate::answer::Piece;
use crate::dialect::spoken::{About, Spoken};
use crate::wire::{raw, string, value};

pub struct Stream {
    about: About,
    usage: Usage,
    begun: bool,
}

impl Stream {
    pub fn new(about: About) -> Self {
        Self { about, usage: Usage::default(), begun: false }
    }

    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            self.chunk(out, |out| raw(out, "{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null"));
        }
    }

    pub fn write(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        if let Piece::Usage(metered) = piece {
            self.usage = *metered;
            return;
        }
        self.begin(out);
        match piece {
            Piece::Text(text) => self.chunk(out, |out| {
                raw(out, "{\"content\":");
                string(out, text);
                raw(out, "},\"finish_reason\":null");
            }),
            Piece::Call(part) => self.chunk(out, |out| {
                raw(out, "{\"tool_calls\":[{\"index\":");
                value(out, &part.slot);
                if part.tool.is_empty() {
                    raw(out, ",\"function\":{\"arguments\":");
                } else {
                    raw(out, ",\"id\":");
                    string(out, &part.id);
                    raw(out, ",\"type\":\"function\",\"function\":{\"name\":");
                    string(out, &part.tool);
                    raw(out, ",\"arguments\":");
                }
                string(out, &part.arguments);
                raw(out, "}}]},\"finish_reason\":null");
            }),
            Piece::Stop(stop) => self.chunk(out, |out| {
                raw(out, "{},\"finish_reason\":");
                string(out, finish_reason(stop));
            }),
            Piece::Done => self.end(out),
            Piece::Usage(_) | Piece::RequestId(_) | Piece::Reasoning(_) | Piece::Thought(_) => {}
        }
    }

    fn chunk(&self, out: &mut Vec<u8>, delta: impl FnOnce(&mut Vec<u8>)) {
        self.head(out);
        raw(out, "[{\"index\":0,\"delta\":");
        delta(out);
        raw(out, "}]}\n\n");
    }

    fn head(&self, out: &mut Vec<u8>) {
        raw(out, "data: {\"id\":");
        string(out, &id(&self.about));
        raw(out, ",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":");
        string(out, &self.about.model);
        raw(out, ",\"choices\":");
    }

    fn end(&self, out: &mut Vec<u8>) {
        if self.about.wants_usage {
            self.head(out);
            raw(out, "[],\"usage\":");
            value(out, &usage(&self.usage));
            raw(out, "}\n\n");
        }
        raw(out, "data: [DONE]\n\n");
    }
}

/// As the servers that imitate this language do it; OpenAI's own just break off.
pub fn fail(kind: &str, message: &str, out: &mut Vec<u8>) {
    let error = json!({"error": {"message": message, "type": kind, "code": kind}});
    raw(out, &format!("data: {error}\n\n"));
}

pub fn whole(pieces: &[Piece], about: &About) -> Vec<u8> {
    let spoken = Spoken::gather(pieces);
    let calls = spoken.calls.iter().map(
        |call| json!({"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": call.arguments}}),
    );
    let mut message = json!({"role": "assistant", "content": spoken.text});
    if !spoken.calls.is_empty() {
        message["tool_calls"] = calls.collect();
    }
    let answer = json!({
        "id": id(about), "object": "chat.completion", "created": 0, "model": about.model, "usage": usage(&spoken.usage),
        "choices": [{"index": 0, "message": message, "finish_reason": spoken.stop.as_ref().map(finish_reason)}],
    });
    answer.to_string().into_bytes()
}

fn id(about: &About) -> String {
    format!("chatcmpl-{}", about.name)
}

fn usage(usage: &Usage) -> serde_json::Value {
    json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.total(),
        "prompt_tokens_details": {"cached_tokens": usage.cached_input, "cache_write_tokens": usage.cache_write},
    })
}

fn finish_reason(stop: &StopReason) -> &str {
    match stop {
        StopReason::EndTurn => "stop",
        StopReason::ToolCalls => "tool_calls",
        StopReason::MaxTokens => "length",
        StopReason::Refusal => "content_filter",
        StopReason::Other(other) => other,
    }
}
