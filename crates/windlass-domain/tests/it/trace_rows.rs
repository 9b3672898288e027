//! Seed 000 §16.1, a test for each event type and named after it: what leads to its line, and what the line says.

use serde_json::{Value, json};
use windlass_domain::trace;

use crate::notation::{Story, child};

const BEGIN: &str = "create prompt launching running";

/// The last line of the trace, whose type must be this one, and its data.
#[track_caller]
fn last(words: &str, event_type: &str) -> Value {
    let journal = Story::told(&format!("{BEGIN} {words}")).journal;
    let entry = trace(journal.iter().map(|(event, at)| (event, *at))).pop().expect("a line");
    let line = serde_json::to_value(&entry).expect("plain data");
    assert_eq!(line["event_type"], event_type, "{words}");
    line["data"].clone()
}

#[test]
fn agent_start() {
    let data = last("", "agent_start");
    assert_eq!((&data["agent_id"], &data["model"]), (&json!("executor"), &json!("rehearsal")));
    assert!(data["execution_id"].is_string());
}

#[test]
fn llm_request() {
    let data = last("ask[input=7]", "llm_request");
    assert_eq!((&data["estimated_input"], &data["messages"]), (&json!(7), &json!(1)));
    assert!(data["prompt"].is_string());
}

#[test]
fn llm_response() {
    let data = last("ask say[input=5,output=2]", "llm_response");
    assert_eq!((&data["text"], &data["usage"]), (&json!("I see."), &json!({"input": 5, "output": 2})));
    let data = last("ask no-answer", "llm_response");
    assert_eq!(data["error"], "nobody answers");
}

#[test]
fn tool_call() {
    let data = last("ask call:a", "tool_call");
    assert_eq!(data, json!({"call_id": "a", "tool_name": "bash", "arguments": {}}));
}

#[test]
fn tool_result() {
    let data = last("ask call:a start:a=once error:a", "tool_result");
    assert_eq!((&data["call_id"], &data["status"], &data["duration_ms"]), (&json!("a"), &json!("error"), &json!(3)));
}

#[test]
fn injection_received() {
    let data = last("inject", "injection_received");
    assert_eq!(data, json!({"injection_type": "user_message", "content": "User says: hurry"}));
}

#[test]
fn compaction_start() {
    let data = last("compact", "compaction_start");
    assert_eq!(data, json!({"cycle": 1, "reason": "threshold", "tokens_before": 900}));
}

#[test]
fn compaction_end() {
    let data = last("ask say compact clear: relieve", "compaction_end");
    assert_eq!(data, json!({"cycle": 1, "tokens_before": 900, "tokens_after": 100}));
    let data = last("compact clear: hopeless", "compaction_end");
    assert_eq!(data["reason"], "the goal is a book");
}

#[test]
fn memory_flush() {
    let data = last("ask say inject compact clear: flush ask say flushed", "memory_flush");
    assert_eq!(data, json!({"files_written": 1}));
}

#[test]
fn sub_agent_spawn() {
    let data = last("ask call:a start:a=child spawn:a", "sub_agent_spawn");
    assert_eq!(data, json!({"call_id": "a", "execution_id": child("a"), "label": "a"}));
}

#[test]
fn sub_agent_complete() {
    let data = last("ask call:a start:a=child spawn:a charge:a[input=4]", "sub_agent_complete");
    assert_eq!((&data["label"], &data["status"], &data["duration_ms"]), (&json!("a"), &json!("completed"), &json!(5)));
    assert_eq!((&data["execution_id"], &data["usage"]["input"]), (&json!(child("a")), &json!(4)));
}

#[test]
fn risk_check() {
    let data = last("ask call:a risk:a=high", "risk_check");
    assert_eq!(
        data,
        json!({"call_id": "a", "tool_name": "bash", "risk_level": "high", "reasons": ["it removes files"],
               "ruling": "require_approval", "gates": []})
    );
}

#[test]
fn doom_loop_detected() {
    let data = last("warn:1", "doom_loop_detected");
    assert_eq!(data["pattern"], json!({"kind": "failures", "last": "bash", "times": 5}));
    assert_eq!(data["intervention"], 1);
}

#[test]
fn agent_end() {
    let data = last("completed", "agent_end");
    assert_eq!(data, json!({"status": "completed", "reason": "told so"}));
}
