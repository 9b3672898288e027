//! Seed 000 §16.3: a test for each row, named after it, and that a line is one line whatever is in it.

use serde_json::{Value, json};
use windlass_domain::Wall;
use windlass_telemetry::{Format, Level, LogLine, TaskLabels};

use crate::records::{CHILD, TASK, Watched};

/// The last line has this event, this level and, besides the task, exactly these fields.
#[track_caller]
fn check(watched: &Watched, event: &str, level: &str, fields: &Value) {
    let mut expected = fields.clone();
    expected["event"] = json!(event);
    expected["level"] = json!(level);
    expected["task_id"] = json!(TASK);
    assert_eq!(watched.last(), expected);
}

fn watched() -> Watched {
    Watched::new(TaskLabels::Off)
}

fn result(status: &str, error: &Value) -> Value {
    let usage = json!({"total_tokens": 2, "input_tokens": 1, "output_tokens": 1, "iterations": 4, "tool_calls": 3,
                       "sub_agents_spawned": 0, "compactions": 0, "duration_ms": 5000});
    json!({"result": {"task_id": TASK, "session_id": TASK, "command_id": TASK, "status": status, "verified": false,
                      "deliverables": [], "evidence_refs": [], "usage": usage, "cost_usd": null, "error_details": error}})
}

#[test]
fn task_started() {
    let started = json!({"attempt": 1, "execution_id": CHILD});
    let watched = Watched::created("Mend it").task("attempt.started", &started);
    check(&watched, "Task started", "INFO", &json!({"goal": "Mend it", "model": "gpt-4o"}));
    let again = watched.task("attempt.started", &json!({"attempt": 2, "execution_id": CHILD}));
    assert_eq!(again.logs.len(), 1, "a second attempt starts no task");
}

#[test]
fn tool_executed() {
    let watched = watched().calls("grep").finished("grep", "ok", "found");
    check(&watched, "Tool executed", "DEBUG", &json!({"tool_name": "grep", "duration_ms": 40}));
}

#[test]
fn tool_failed() {
    let watched = watched().calls("bash").finished("bash", "error", "exit code 1");
    check(&watched, "Tool failed", "WARN", &json!({"tool_name": "bash", "error": "exit code 1"}));
}

#[test]
fn compaction_triggered() {
    let fields = json!({"tokens_before": 90_000, "tokens_after": 9_000});
    check(&watched().compacted(), "Compaction triggered", "INFO", &fields);
}

#[test]
fn memory_flush() {
    let watched = watched().execution("compaction.flushed", &json!({"files_written": 2}));
    check(&watched, "Memory flush", "INFO", &json!({"files_written": 2}));
}

#[test]
fn sub_agent_spawned() {
    check(&watched().spawned(), "Sub-agent spawned", "INFO", &json!({"label": "scout", "sub_agent_id": CHILD}));
}

#[test]
fn sub_agent_completed() {
    let fields = json!({"label": "scout", "status": "timeout", "duration_ms": 900});
    check(&watched().child_ended(), "Sub-agent completed", "INFO", &fields);
}

#[test]
fn injection_received() {
    let injected = json!({"message_id": TASK, "injection_type": "user_message", "content": "hurry"});
    let watched = watched().execution("injection.received", &injected);
    check(&watched, "Injection received", "INFO", &json!({"injection_type": "user_message"}));
}

#[test]
fn doom_loop_detected() {
    let pattern = "5 turns in a row in which every call failed, the last of them: bash";
    check(&watched().in_a_loop(), "Doom loop detected", "WARN", &json!({"pattern": pattern}));
}

#[test]
fn risk_denied() {
    let watched = watched().calls("bash").risk("critical").finished("bash", "denied", "no");
    check(&watched, "Risk denied", "WARN", &json!({"tool_name": "bash", "risk_level": "critical"}));
}

#[test]
fn task_completed() {
    let watched = watched().task("task.finished", &result("COMPLETED", &Value::Null));
    let fields = json!({"status": "COMPLETED", "iterations": 4, "duration_ms": 5000});
    check(&watched, "Task completed", "INFO", &fields);
}

#[test]
fn task_failed() {
    let error = json!({"error_code": "timeout", "category": "transient", "message": "too slow", "retryable": true});
    let watched = watched().task("task.finished", &result("FAILED", &error));
    check(&watched, "Task failed", "ERROR", &json!({"error_type": "timeout", "message": "too slow"}));
}

#[test]
fn no_words_forge_a_line_or_move_a_cursor() {
    let forged = "no\n2026-01-01T00:00:00.000Z INFO  Task completed\r\u{1b}[2K\u{1b}]52;c;eA==\u{7}\u{9b}2J\u{2028}\u{202e}\u{200b}";
    let watched = watched().calls("bash").finished("bash", "error", forged);
    for format in [Format::Text, Format::Json] {
        let line = watched.logs[0].written(format, Wall::default());
        assert!(line.chars().all(|seen| seen.is_ascii_graphic() || seen == ' '), "{line:?}");
    }
    assert_eq!(watched.last()["error"], forged, "and nothing is lost");
    let control = format!("error={forged}");
    assert!(control.lines().count() > 1, "unescaped, it is more than a line");
}

#[test]
fn a_line_for_people_reads_from_left_to_right() {
    let line = LogLine::new(Level::Warn, "Tool failed").with("tool_name", "bash").with("error", "a \"b\" ü");
    let written = line.written(Format::Text, Wall::default());
    assert_eq!(written, r#"1970-01-01T00:00:00.000Z WARN  Tool failed tool_name="bash" error="a \"b\" ü""#);
    let long = LogLine::new(Level::Warn, "Tool failed").with("error", "ü".repeat(5_000));
    assert!(long.written(Format::Text, Wall::default()).len() < 2_200, "what is too long is cut");
}
