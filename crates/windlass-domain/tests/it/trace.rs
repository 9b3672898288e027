//! The trace of a run, line by line: seed 000 §16.1's event types that can occur now, in the order things happened.

use serde_json::{Value, json};

use windlass_domain::trace;

use crate::notation::{START, Story};

fn lines(words: &str) -> Vec<Value> {
    let journal = Story::told(words).journal;
    let entries = trace(journal.iter().map(|(event, at)| (event, *at)));
    entries.iter().map(|entry| serde_json::to_value(entry).expect("plain data")).collect()
}

/// `event_type iteration`, one for each line.
#[track_caller]
fn check(words: &str, expected: &[&str]) {
    let told: Vec<_> = lines(words)
        .iter()
        .map(|line| format!("{} {}", line["event_type"].as_str().expect("a word"), line["iteration"]))
        .collect();
    assert_eq!(told, expected, "{words}");
}

#[test]
fn a_run_is_traced_in_the_order_it_happened() {
    check(
        "create prompt launching running ask call:a,b start:b=read start:a=once ok:b ok:a inject ask say keep:r completed",
        &[
            "agent_start 0",
            "llm_request 1",
            "llm_response 1",
            "tool_call 1",
            "tool_call 1",
            "tool_result 1",
            "tool_result 1",
            "injection_received 1",
            "llm_request 2",
            "llm_response 2",
            "agent_end 2",
        ],
    );
}

#[test]
fn every_end_and_every_pause_ends_the_trace_and_a_move_on_the_way_does_not() {
    check("create failed", &["agent_start 0", "agent_end 0"]);
    check("create cancelled", &["agent_start 0", "agent_end 0"]);
    check("create launching running awaiting_input running lost launching", &["agent_start 0"]);
    check(
        "create launching running ask paused running ask say completed",
        &["agent_start 0", "llm_request 1", "agent_end 1", "llm_request 2", "llm_response 2", "agent_end 2"],
    );
}

#[test]
fn a_compaction_and_a_loop_are_traced() {
    check(
        "create prompt launching running ask say inject compact clear: flush ask say flushed summarise:1=2 say shorten:2 warn:1",
        &[
            "agent_start 0",
            "llm_request 1",
            "llm_response 1",
            "injection_received 1",
            "compaction_start 1",
            "llm_request 2",
            "llm_response 2",
            "memory_flush 2",
            "llm_request 3",
            "llm_response 3",
            "compaction_end 3",
            "doom_loop_detected 3",
        ],
    );
    check(
        "create launching running compact clear: hopeless",
        &["agent_start 0", "compaction_start 0", "compaction_end 0"],
    );
}

#[test]
fn a_denied_call_was_asked_for_and_has_its_result() {
    check(
        "create launching running ask call:a denied:a",
        &["agent_start 0", "llm_request 1", "llm_response 1", "tool_call 1", "tool_result 1"],
    );
}

#[test]
fn an_empty_journal_leaves_no_trace() {
    check("", &[]);
}

#[test]
fn a_line_says_when_and_what() {
    let told = lines(
        "create +1 launching running ask[input=7] +1500 call:a[input=5,output=2,nanos=9] start:a=once ok:a inject failed",
    );
    let line = |index: usize| &told[index];
    for line in &told {
        let mut keys: Vec<_> = line.as_object().expect("an object").keys().collect();
        keys.sort_unstable();
        assert_eq!(keys, ["data", "event_type", "iteration", "timestamp"]);
        assert!(line["data"].is_object());
    }
    assert_eq!(line(0)["timestamp"], START.to_rfc3339());
    assert_eq!(line(0)["timestamp"], "2023-11-14T22:13:20.000Z");
    assert_eq!(line(0)["data"]["agent_id"], "executor");
    assert_eq!(line(0)["data"]["model"], "rehearsal");
    assert_eq!(line(1)["timestamp"], "2023-11-14T22:13:20.001Z");
    assert_eq!(line(1)["data"]["estimated_input"], 7);
    assert_eq!(line(2)["timestamp"], "2023-11-14T22:13:21.501Z");
    assert_eq!(line(2)["data"]["text"], "I see.");
    assert_eq!(line(2)["data"]["tool_calls"], 1);
    assert_eq!(line(2)["data"]["usage"], json!({"input": 5, "output": 2}));
    assert_eq!(line(2)["data"]["cost_usd"], json!(9e-9));
    let call = json!({"call_id": "a", "tool_name": "bash", "arguments": {}});
    assert_eq!(line(3)["data"], call);
    assert_eq!((&line(4)["data"]["status"], &line(4)["data"]["content"]), (&json!("ok"), &json!("output")));
    assert_eq!(line(5)["data"]["injection_type"], "user_message");
    assert_eq!(line(6)["data"]["status"], "failed");
}

#[test]
fn a_trace_is_one_line_for_each_entry() {
    let journal = Story::told("create launching running ask call:a start:a=once ok:a").journal;
    for entry in trace(journal.iter().map(|(event, at)| (event, *at))) {
        assert!(!serde_json::to_string(&entry).expect("plain data").contains('\n'));
    }
}
