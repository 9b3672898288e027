//! Writes an answer in the form of Anthropic's messages, as events or whole. Nothing in it depends on time.

use serde_json::{Value, json};
use windlass_domain::{StopReason, Usage};

use crate::answer::Piece;
use crate::dialect::spoken::{About, Spoken};

pub struct Stream {
    about: About,
    usage: Usage,
    stop_reason: Value,
    begun: bool,
    open: Option<Block>,
    blocks: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Call(u64),
}

impl Stream {
    pub fn new(about: About) -> Self {
        Self { about, usage: Usage::default(), stop_reason: Value::Null, begun: false, open: None, blocks: 0 }
    }

    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let head = json!({
            "id": id(&self.about), "type": "message", "role": "assistant", "model": self.about.model, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage(&Usage { output: 0, ..self.usage }),
        });
        send(out, &json!({"type": "message_start", "message": head}));
    }

    pub fn write(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        if let Piece::Usage(metered) = piece {
            self.usage = *metered;
            return;
        }
        self.begin(out);
        match piece {
            Piece::Text(text) => {
                self.open(out, Block::Text, || json!({"type": "text", "text": ""}));
                self.delta(out, &json!({"type": "text_delta", "text": text}));
            }
            Piece::Call(part) => {
                let block = || json!({"type": "tool_use", "id": part.id, "name": part.tool, "input": {}});
                self.open(out, Block::Call(part.slot), block);
                self.delta(out, &json!({"type": "input_json_delta", "partial_json": part.arguments}));
            }
            Piece::Stop(stop) => self.stop_reason = json!(reason(stop)),
            Piece::Done => {
                self.close(out);
                let delta = json!({"stop_reason": self.stop_reason, "stop_sequence": null});
                send(out, &json!({"type": "message_delta", "delta": delta, "usage": usage(&self.usage)}));
                send(out, &json!({"type": "message_stop"}));
            }
            Piece::RequestId(_) | Piece::Reasoning(_) | Piece::Thought(_) | Piece::Usage(_) => {}
        }
    }

    fn open(&mut self, out: &mut Vec<u8>, block: Block, content: impl FnOnce() -> Value) {
        if self.open == Some(block) {
            return;
        }
        self.close(out);
        self.open = Some(block);
        send(out, &json!({"type": "content_block_start", "index": self.blocks, "content_block": content()}));
    }

    fn delta(&self, out: &mut Vec<u8>, delta: &Value) {
        send(out, &json!({"type": "content_block_delta", "index": self.blocks, "delta": delta}));
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.open.take().is_some() {
            send(out, &json!({"type": "content_block_stop", "index": self.blocks}));
            self.blocks += 1;
        }
    }
}

pub fn fail(kind: &str, message: &str, out: &mut Vec<u8>) {
    send(out, &json!({"type": "error", "error": {"type": kind, "message": message}}));
}

fn send(out: &mut Vec<u8>, event: &Value) {
    let name = event["type"].as_str().expect("every event here has a type");
    out.extend_from_slice(format!("event: {name}\ndata: {event}\n\n").as_bytes());
}

pub fn whole(pieces: &[Piece], about: &About) -> Vec<u8> {
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

fn id(about: &About) -> String {
    format!("msg_{}", about.name)
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
