//! Writes an answer in the form of Anthropic's messages, as events or whole. Nothing in it depends on time.

use serde_json::{Value, json};
use windlass_domain::{StopReason, Usage};

use crate::answer::Piece;
use crate::rehearsal::serve::spoken::{About, Spoken};

pub fn stream(pieces: &[Piece], about: About<'_>) -> Vec<u8> {
    let mut events = Events::default();
    let metered = Spoken::gather(pieces).usage;
    let head = json!({
        "id": id(about), "type": "message", "role": "assistant", "model": about.model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage(&Usage { output: 0, ..metered }),
    });
    events.send(&json!({"type": "message_start", "message": head}));
    let mut stop_reason = Value::Null;
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                events.open(Block::Text, || json!({"type": "text", "text": ""}));
                events.delta(&json!({"type": "text_delta", "text": text}));
            }
            Piece::Call(part) => {
                let block = || json!({"type": "tool_use", "id": part.id, "name": part.tool, "input": {}});
                events.open(Block::Call(part.slot), block);
                events.delta(&json!({"type": "input_json_delta", "partial_json": part.arguments}));
            }
            Piece::Stop(stop) => stop_reason = json!(reason(stop)),
            Piece::Done => {
                events.close();
                let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
                let usage = json!({"output_tokens": metered.output});
                events.send(&json!({"type": "message_delta", "delta": delta, "usage": usage}));
                events.send(&json!({"type": "message_stop"}));
            }
            Piece::RequestId(_) | Piece::Reasoning(_) | Piece::Thought(_) | Piece::Usage(_) => {}
        }
    }
    events.out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Call(u64),
}

/// The stream so far, and the block that is open in it.
#[derive(Default)]
struct Events {
    out: Vec<u8>,
    open: Option<Block>,
    blocks: usize,
}

impl Events {
    fn send(&mut self, event: &Value) {
        let name = event["type"].as_str().expect("every event here has a type");
        self.out.extend_from_slice(format!("event: {name}\ndata: {event}\n\n").as_bytes());
    }

    fn open(&mut self, block: Block, content: impl FnOnce() -> Value) {
        if self.open == Some(block) {
            return;
        }
        self.close();
        self.open = Some(block);
        self.send(&json!({"type": "content_block_start", "index": self.blocks, "content_block": content()}));
    }

    fn delta(&mut self, delta: &Value) {
        self.send(&json!({"type": "content_block_delta", "index": self.blocks, "delta": delta}));
    }

    fn close(&mut self) {
        if self.open.take().is_some() {
            self.send(&json!({"type": "content_block_stop", "index": self.blocks}));
            self.blocks += 1;
        }
    }
}

pub fn whole(pieces: &[Piece], about: About<'_>) -> Vec<u8> {
    let spoken = Spoken::gather(pieces);
    let text = (!spoken.text.is_empty()).then(|| json!({"type": "text", "text": spoken.text}));
    let calls = spoken.calls.iter().map(|call| {
        let input = serde_json::from_str::<Value>(&call.arguments).unwrap_or(Value::Null);
        json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": input})
    });
    let answer = json!({
        "id": id(about), "type": "message", "role": "assistant", "model": about.model,
        "content": text.into_iter().chain(calls).collect::<Vec<_>>(),
        "stop_reason": spoken.stop.as_ref().map(reason), "stop_sequence": null, "usage": usage(&spoken.usage),
    });
    answer.to_string().into_bytes()
}

fn id(about: About<'_>) -> String {
    format!("msg_rehearsal_{}", about.turn)
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input.saturating_sub(usage.cached_input).saturating_sub(usage.cache_write),
        "cache_read_input_tokens": usage.cached_input, "cache_creation_input_tokens": usage.cache_write,
        "output_tokens": usage.output,
    })
}

fn reason(stop: &StopReason) -> &str {
    match stop {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolCalls => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::Refusal => "refusal",
        StopReason::Other(other) => other,
    }
}
