//! The three wires: how the program is told to use one, and what an answer looks like on it, event by event.

use serde_json::{Value, json};

use crate::cli::{through_anthropic, through_openai, through_responses};
use crate::support::Program;

const KEY: &str = "sk-loopback-0123456789";

#[derive(Debug, Clone, Copy)]
pub enum Wire {
    Chat,
    Responses,
    Messages,
}

pub const WIRES: [Wire; 3] = [Wire::Chat, Wire::Responses, Wire::Messages];

/// What a model asks for: a tool, and arguments as text, which need not be JSON.
pub type Asked<'a> = (&'a str, &'a str);

impl Wire {
    pub fn ask(self, program: Program, url: &str) -> Program {
        match self {
            Self::Chat => through_openai(program, url, KEY),
            Self::Responses => through_responses(program, url, KEY),
            Self::Messages => through_anthropic(program, url, KEY),
        }
    }

    /// An answer in the events that a server would send it in.
    pub fn events(self, text: &str, calls: &[Asked<'_>]) -> Vec<String> {
        let events = match self {
            Self::Chat => chat(text, calls),
            Self::Responses => responses(text, calls),
            Self::Messages => messages(text, calls),
        };
        events.iter().map(|event| format!("data: {event}\n\n")).collect()
    }

    pub fn says(self, text: &str) -> String {
        self.events(text, &[]).concat()
    }

    pub fn calls(self, calls: &[Asked<'_>]) -> String {
        self.events("", calls).concat()
    }

    /// A piece of text in the middle of an answer.
    pub fn piece(self, text: &str) -> String {
        let events = self.events(text, &[]);
        let words = json!(text).to_string();
        events.into_iter().find(|event| event.contains(&words)).expect("the text is in one of them")
    }
}

fn chat(text: &str, calls: &[Asked<'_>]) -> Vec<String> {
    let delta = |delta: Value| json!({"id": "r1", "choices": [{"index": 0, "delta": delta}]}).to_string();
    let mut events = vec![delta(json!({"role": "assistant", "content": text}))];
    for (index, (tool, arguments)) in calls.iter().enumerate() {
        let begun = json!({"index": index, "id": format!("c{index}"), "type": "function", "function": {"name": tool}});
        events.push(delta(json!({ "tool_calls": [begun] })));
        let rest = json!({"index": index, "function": {"arguments": arguments}});
        events.push(delta(json!({ "tool_calls": [rest] })));
    }
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}).to_string());
    events.push(json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}).to_string());
    events.push("[DONE]".to_owned());
    events
}

fn responses(text: &str, calls: &[Asked<'_>]) -> Vec<String> {
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "r1", "status": "in_progress"}}),
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}),
    ];
    for (index, (tool, arguments)) in calls.iter().enumerate() {
        let place = index + 1;
        let item = json!({"type": "function_call", "id": format!("f{index}"), "call_id": format!("c{index}"), "name": tool, "arguments": ""});
        events.push(json!({"type": "response.output_item.added", "output_index": place, "item": item}));
        events
            .push(json!({"type": "response.function_call_arguments.delta", "output_index": place, "delta": arguments}));
    }
    let usage = json!({"input_tokens": 7, "output_tokens": 3});
    events.push(json!({"type": "response.completed", "response": {"id": "r1", "status": "completed", "usage": usage}}));
    events.iter().map(Value::to_string).collect()
}

fn messages(text: &str, calls: &[Asked<'_>]) -> Vec<String> {
    let begin =
        |index: usize, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let end = |index: usize| json!({"type": "content_block_stop", "index": index});
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "r1", "usage": {"input_tokens": 7}}}),
        begin(0, json!({"type": "text", "text": ""})),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        end(0),
    ];
    for (index, (tool, arguments)) in calls.iter().enumerate() {
        let place = index + 1;
        events.push(begin(place, json!({"type": "tool_use", "id": format!("c{index}"), "name": tool, "input": {}})));
        let delta = json!({"type": "input_json_delta", "partial_json": arguments});
        events.push(json!({"type": "content_block_delta", "index": place, "delta": delta}));
        events.push(end(place));
    }
    let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}}));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(Value::to_string).collect()
}
