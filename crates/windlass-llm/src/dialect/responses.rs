//! Writes an answer in the form of OpenAI's responses, as events or whole. Nothing in it depends on time.

use serde_json::{Value, json};
use windlass_domain::{StopReason, Usage};

use crate::answer::{CallPiece, Piece};
use crate::dialect::spoken::{About, Spoken};

pub struct Stream {
    about: About,
    usage: Usage,
    stop: Option<StopReason>,
    begun: bool,
    sequence: u64,
    /// The items that are complete.
    output: Vec<Value>,
    open: Option<Open>,
}

/// The item that grows.
enum Open {
    Text(String),
    Call(CallPiece),
}

impl Stream {
    pub fn new(about: About) -> Self {
        let (usage, output) = (Usage::default(), Vec::new());
        Self { about, usage, stop: None, begun: false, sequence: 0, output, open: None }
    }

    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let opening = json!({
            "id": id(&self.about), "object": "response", "created_at": 0, "model": self.about.model, "status": "in_progress",
            "output": [],
        });
        self.send(out, "response.created", json!({"response": opening}));
        self.send(out, "response.in_progress", json!({"response": opening}));
    }

    pub fn write(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        if let Piece::Usage(metered) = piece {
            self.usage = *metered;
            return;
        }
        self.begin(out);
        match piece {
            Piece::Text(text) => self.text(out, text),
            Piece::Call(part) if !part.tool.is_empty() => {
                self.close(out);
                let added =
                    json!({"output_index": self.output.len(), "item": call_item(part, &self.about, "in_progress")});
                self.send(out, "response.output_item.added", added);
                self.open = Some(Open::Call(part.clone()));
            }
            Piece::Call(part) => self.arguments(out, &part.arguments),
            Piece::Stop(stop) => self.stop = Some(stop.clone()),
            Piece::Done => {
                self.close(out);
                let whole = response(&self.about, std::mem::take(&mut self.output), &self.usage, self.stop.as_ref());
                let is_complete = whole["status"] == "completed";
                let name = if is_complete { "response.completed" } else { "response.incomplete" };
                self.send(out, name, json!({"response": whole}));
            }
            Piece::RequestId(_) | Piece::Reasoning(_) | Piece::Thought(_) | Piece::Usage(_) => {}
        }
    }

    pub fn fail(&mut self, kind: &str, message: &str, out: &mut Vec<u8>) {
        let failed = json!({
            "id": id(&self.about), "object": "response", "created_at": 0, "model": self.about.model, "status": "failed",
            "error": {"code": kind, "message": message}, "output": [], "usage": null,
        });
        self.send(out, "response.failed", json!({"response": failed}));
    }

    fn send(&mut self, out: &mut Vec<u8>, name: &str, content: Value) {
        let event = merged(json!({"type": name, "sequence_number": self.sequence}), content);
        self.sequence += 1;
        out.extend_from_slice(format!("event: {name}\ndata: {event}\n\n").as_bytes());
    }

    /// Where in the answer its text stands.
    fn place(&self) -> Value {
        json!({"item_id": message_id(&self.about), "output_index": self.output.len(), "content_index": 0})
    }

    fn text(&mut self, out: &mut Vec<u8>, text: &str) {
        if !matches!(self.open, Some(Open::Text(_))) {
            self.close(out);
            let mut item = message_item("", &self.about, "in_progress");
            item["content"] = json!([]);
            self.send(out, "response.output_item.added", json!({"output_index": self.output.len(), "item": item}));
            self.send(out, "response.content_part.added", merged(self.place(), json!({"part": text_part("")})));
            self.open = Some(Open::Text(String::new()));
        }
        self.send(out, "response.output_text.delta", merged(self.place(), json!({"delta": text})));
        if let Some(Open::Text(said)) = &mut self.open {
            said.push_str(text);
        }
    }

    fn arguments(&mut self, out: &mut Vec<u8>, arguments: &str) {
        let Some(Open::Call(call)) = &mut self.open else { return };
        call.arguments.push_str(arguments);
        let delta = json!({"item_id": item_id(call), "output_index": self.output.len(), "delta": arguments});
        self.send(out, "response.function_call_arguments.delta", delta);
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        let item = match self.open.take() {
            None => return,
            Some(Open::Text(text)) => {
                self.send(out, "response.output_text.done", merged(self.place(), json!({"text": text})));
                self.send(out, "response.content_part.done", merged(self.place(), json!({"part": text_part(&text)})));
                message_item(&text, &self.about, "completed")
            }
            Some(Open::Call(call)) => {
                let index = self.output.len();
                let done = json!({"item_id": item_id(&call), "output_index": index, "arguments": call.arguments});
                self.send(out, "response.function_call_arguments.done", done);
                call_item(&call, &self.about, "completed")
            }
        };
        self.send(out, "response.output_item.done", json!({"output_index": self.output.len(), "item": item}));
        self.output.push(item);
    }
}

pub fn whole(pieces: &[Piece], about: &About) -> Vec<u8> {
    let spoken = Spoken::gather(pieces);
    let text = (!spoken.text.is_empty()).then(|| message_item(&spoken.text, about, "completed"));
    let calls = spoken.calls.iter().map(|call| call_item(call, about, "completed"));
    let output = text.into_iter().chain(calls).collect();
    response(about, output, &spoken.usage, spoken.stop.as_ref()).to_string().into_bytes()
}

fn response(about: &About, output: Vec<Value>, metered: &Usage, stop: Option<&StopReason>) -> Value {
    let (status, why) = match stop {
        Some(StopReason::MaxTokens) => ("incomplete", json!({"reason": "max_output_tokens"})),
        Some(StopReason::Refusal) => ("incomplete", json!({"reason": "content_filter"})),
        Some(StopReason::Other(reason)) => ("incomplete", json!({"reason": reason})),
        Some(StopReason::EndTurn | StopReason::ToolCalls) | None => ("completed", Value::Null),
    };
    json!({
        "id": id(about), "object": "response", "created_at": 0, "model": about.model, "status": status, "error": null,
        "incomplete_details": why, "output": output, "usage": usage(metered),
    })
}

fn message_item(text: &str, about: &About, status: &str) -> Value {
    json!({"type": "message", "id": message_id(about), "role": "assistant", "status": status, "content": [text_part(text)]})
}

fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn call_item(call: &CallPiece, about: &About, status: &str) -> Value {
    let folded = about.folders.get(&call.tool);
    let mut item = json!({
        "type": "function_call", "id": item_id(call), "call_id": call.id,
        "name": folded.map_or(&call.tool, |(_, name)| name), "arguments": call.arguments, "status": status,
    });
    if let Some((folder, _)) = folded {
        item["namespace"] = json!(folder);
    }
    item
}

fn merged(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

fn id(about: &About) -> String {
    format!("resp_{}", about.name)
}

fn message_id(about: &About) -> String {
    format!("msg_{}", about.name)
}

fn item_id(call: &CallPiece) -> String {
    format!("fc_{}", call.id)
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached_input, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": usage.total(),
    })
}
