//! Writes an answer in the form of OpenAI's chat completions, as events or whole. Nothing in it depends on time.

use serde_json::json;
use windlass_domain::{StopReason, Usage};

use crate::answer::Piece;
use crate::rehearsal::serve::spoken::{About, Spoken};
use crate::wire::{raw, string, value};

pub fn stream(pieces: &[Piece], about: About<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    let mut usage = Usage::default();
    chunk(&mut out, about, |out| raw(out, "{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null"));
    for piece in pieces {
        match piece {
            Piece::Text(text) => chunk(&mut out, about, |out| {
                raw(out, "{\"content\":");
                string(out, text);
                raw(out, "},\"finish_reason\":null");
            }),
            Piece::Call(part) => chunk(&mut out, about, |out| {
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
            Piece::Stop(stop) => chunk(&mut out, about, |out| {
                raw(out, "{},\"finish_reason\":");
                string(out, finish_reason(stop));
            }),
            Piece::Usage(metered) => usage = *metered,
            Piece::Done => end(&mut out, about, &usage),
            Piece::RequestId(_) | Piece::Reasoning(_) | Piece::Thought(_) => {}
        }
    }
    out
}

fn chunk(out: &mut Vec<u8>, about: About<'_>, delta: impl FnOnce(&mut Vec<u8>)) {
    head(out, about);
    raw(out, "[{\"index\":0,\"delta\":");
    delta(out);
    raw(out, "}]}\n\n");
}

fn head(out: &mut Vec<u8>, about: About<'_>) {
    raw(out, "data: {\"id\":");
    string(out, &id(about));
    raw(out, ",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":");
    string(out, about.model);
    raw(out, ",\"choices\":");
}

fn end(out: &mut Vec<u8>, about: About<'_>, metered: &Usage) {
    if about.wants_usage {
        head(out, about);
        raw(out, "[],\"usage\":");
        value(out, &usage(metered));
        raw(out, "}\n\n");
    }
    raw(out, "data: [DONE]\n\n");
}

pub fn whole(pieces: &[Piece], about: About<'_>) -> Vec<u8> {
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

fn id(about: About<'_>) -> String {
    format!("chatcmpl-rehearsal-{}", about.turn)
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
