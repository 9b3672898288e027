//! Writes an answer in the form of OpenAI's responses, as events or whole. Nothing in it depends on time.

use serde_json::{Value, json};
use windlass_domain::Usage;

use crate::answer::{CallPiece, Piece};
use crate::rehearsal::serve::spoken::{About, Spoken};

pub fn stream(pieces: &[Piece], about: About<'_>) -> Vec<u8> {
    let mut events = Events::default();
    let opening = json!({"id": id(about), "object": "response", "created_at": 0, "model": about.model, "status": "in_progress", "output": []});
    events.send("response.created", json!({"response": opening}));
    events.send("response.in_progress", json!({"response": opening}));
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                events.open_text(about);
                let place = json!({"item_id": message_id(about), "output_index": events.items, "content_index": 0});
                events.send("response.output_text.delta", merged(place, json!({"delta": text})));
                events.text.push_str(text);
            }
            Piece::Call(part) if !part.tool.is_empty() => {
                events.close(about);
                events.send(
                    "response.output_item.added",
                    json!({"output_index": events.items, "item": call_item(part, "in_progress")}),
                );
                events.call = Some(part.clone());
            }
            Piece::Call(part) => {
                let id = events.call.as_ref().map(item_id).unwrap_or_default();
                let place = json!({"item_id": id, "output_index": events.items});
                events.send("response.function_call_arguments.delta", merged(place, json!({"delta": part.arguments})));
                events.call.iter_mut().for_each(|call| call.arguments.push_str(&part.arguments));
            }
            Piece::Done => {
                events.close(about);
                let whole = response(&Spoken::gather(pieces), about);
                events.send("response.completed", json!({"response": whole}));
            }
            Piece::RequestId(_) | Piece::Reasoning(_) | Piece::Thought(_) | Piece::Usage(_) | Piece::Stop(_) => {}
        }
    }
    events.out
}

/// The stream so far, and the item that is open in it: text, or a call, or neither.
#[derive(Default)]
struct Events {
    out: Vec<u8>,
    sequence: u64,
    items: usize,
    text_is_open: bool,
    text: String,
    call: Option<CallPiece>,
}

impl Events {
    fn send(&mut self, name: &str, content: Value) {
        let event = merged(json!({"type": name, "sequence_number": self.sequence}), content);
        self.sequence += 1;
        self.out.extend_from_slice(format!("event: {name}\ndata: {event}\n\n").as_bytes());
    }

    fn open_text(&mut self, about: About<'_>) {
        if std::mem::replace(&mut self.text_is_open, true) {
            return;
        }
        let mut item = message_item("", about, "in_progress");
        item["content"] = json!([]);
        self.send("response.output_item.added", json!({"output_index": self.items, "item": item}));
        let place = json!({"item_id": message_id(about), "output_index": self.items, "content_index": 0});
        self.send("response.content_part.added", merged(place, json!({"part": text_part("")})));
    }

    fn close(&mut self, about: About<'_>) {
        let item = if std::mem::take(&mut self.text_is_open) {
            let text = std::mem::take(&mut self.text);
            let place = json!({"item_id": message_id(about), "output_index": self.items, "content_index": 0});
            self.send("response.output_text.done", merged(place.clone(), json!({"text": text})));
            self.send("response.content_part.done", merged(place, json!({"part": text_part(&text)})));
            message_item(&text, about, "completed")
        } else if let Some(call) = self.call.take() {
            let done = json!({"item_id": item_id(&call), "output_index": self.items, "arguments": call.arguments});
            self.send("response.function_call_arguments.done", done);
            call_item(&call, "completed")
        } else {
            return;
        };
        self.send("response.output_item.done", json!({"output_index": self.items, "item": item}));
        self.items += 1;
    }
}

pub fn whole(pieces: &[Piece], about: About<'_>) -> Vec<u8> {
    response(&Spoken::gather(pieces), about).to_string().into_bytes()
}

fn response(spoken: &Spoken, about: About<'_>) -> Value {
    let text = (!spoken.text.is_empty()).then(|| message_item(&spoken.text, about, "completed"));
    let calls = spoken.calls.iter().map(|call| call_item(call, "completed"));
    json!({
        "id": id(about), "object": "response", "created_at": 0, "model": about.model, "status": "completed", "error": null,
        "output": text.into_iter().chain(calls).collect::<Vec<_>>(), "usage": usage(&spoken.usage),
    })
}

fn message_item(text: &str, about: About<'_>, status: &str) -> Value {
    json!({"type": "message", "id": message_id(about), "role": "assistant", "status": status, "content": [text_part(text)]})
}

fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn call_item(call: &CallPiece, status: &str) -> Value {
    json!({
        "type": "function_call", "id": item_id(call), "call_id": call.id, "name": call.tool, "arguments": call.arguments,
        "status": status,
    })
}

fn merged(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

fn id(about: About<'_>) -> String {
    format!("resp_rehearsal_{}", about.turn)
}

fn message_id(about: About<'_>) -> String {
    format!("msg_rehearsal_{}", about.turn)
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
