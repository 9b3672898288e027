//! What goes over the wire is seed 000 §15, name for name. Where Windlass says more than the seed (`verified`, `checks`,
//! `cost_usd`) that is listed here too, so that nothing slips in.

use serde_json::{Value, json};

use windlass_domain::task::{TaskCommand, TaskStatus};
use windlass_domain::{
    Budget, Deliverable, DeliverableType, ErrorCategory, ErrorCode, ErrorDetails, EvidenceRef, EvidenceType,
    HitlRequest, RequestId, TaskResult, TaskResultStatus, UsageMetrics, Usd,
};

use crate::notation::{START, word_of};
use crate::task_notation::{recorded, result};

const ID: &str = "0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e11";

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn full_result() -> TaskResult {
    let mut full = result(TaskResultStatus::BlockedUser);
    full.verified = true;
    full.checks = recorded(1, &[true]).results;
    full.final_message = Some("Done.".into());
    full.deliverables = vec![Deliverable {
        filepath: "output/report.md".into(),
        description: "the report".into(),
        kind: DeliverableType::Report,
        content: Some("# Report".into()),
        size_bytes: Some(8),
    }];
    full.evidence_refs = vec![EvidenceRef {
        ref_id: "e1".into(),
        kind: EvidenceType::Log,
        uri: "blob:1".into(),
        description: Some("the log".into()),
    }];
    full.usage = UsageMetrics { total_tokens: 9, input_tokens: 5, output_tokens: 4, ..UsageMetrics::default() };
    full.cost_usd = Some(Usd::from_nanos(1_500_000));
    full.error_details = Some(ErrorDetails::new(ErrorCode::Timeout, "too slow").with_hint("give it more time"));
    full.hitl_request = Some(HitlRequest {
        request_id: RequestId::new(START, 9),
        question: "Which one?".into(),
        options: Some(vec!["this".into(), "that".into()]),
        context: Some("two were found".into()),
    });
    full
}

#[test]
fn a_full_result_has_the_seeds_fields_and_ours() {
    let wire = serde_json::to_value(full_result()).expect("plain data");
    let seed = [
        "command_id",
        "deliverables",
        "error_details",
        "evidence_refs",
        "final_message",
        "hitl_request",
        "session_id",
        "status",
        "task_id",
        "usage",
    ];
    let ours = ["checks", "cost_usd", "verified"];
    let mut expected: Vec<_> = seed.into_iter().chain(ours).collect();
    expected.sort_unstable();
    assert_eq!(keys(&wire), expected);
    assert_eq!(keys(&wire["deliverables"][0]), ["content", "description", "filepath", "size_bytes", "type"]);
    assert_eq!(keys(&wire["evidence_refs"][0]), ["description", "ref_id", "type", "uri"]);
    assert_eq!(keys(&wire["hitl_request"]), ["context", "options", "question", "request_id"]);
    assert_eq!(
        keys(&wire["usage"]),
        [
            "compactions",
            "duration_ms",
            "input_tokens",
            "iterations",
            "output_tokens",
            "sub_agents_spawned",
            "tool_calls",
            "total_tokens",
        ]
    );
    assert_eq!(keys(&wire["error_details"]), ["category", "error_code", "hint", "message", "retryable"]);
    assert_eq!(wire["cost_usd"], json!(0.0015));
}

#[test]
fn a_bare_result_leaves_out_what_the_seed_marks_optional_and_nothing_else() {
    let wire = serde_json::to_value(result(TaskResultStatus::Completed)).expect("plain data");
    assert_eq!(
        keys(&wire),
        [
            "command_id",
            "cost_usd",
            "deliverables",
            "evidence_refs",
            "session_id",
            "status",
            "task_id",
            "usage",
            "verified"
        ]
    );
    let mut full = full_result();
    full.deliverables[0].content = None;
    full.deliverables[0].size_bytes = None;
    full.evidence_refs[0].description = None;
    full.hitl_request.iter_mut().for_each(|request| {
        request.options = None;
        request.context = None;
    });
    let wire = serde_json::to_value(full).expect("plain data");
    assert_eq!(keys(&wire["deliverables"][0]), ["description", "filepath", "type"]);
    assert_eq!(keys(&wire["evidence_refs"][0]), ["ref_id", "type", "uri"]);
    assert_eq!(keys(&wire["hitl_request"]), ["question", "request_id"]);
}

#[test]
fn a_result_survives_the_wire() {
    for sent in [full_result(), result(TaskResultStatus::Paused)] {
        let text = serde_json::to_string(&sent).expect("plain data");
        assert_eq!(serde_json::from_str::<TaskResult>(&text).expect("the same"), sent);
    }
}

#[test]
fn the_words_are_the_seeds() {
    use TaskResultStatus::{BlockedUser, Cancelled, Completed, Failed, Paused};
    let words = [Completed, Failed, BlockedUser, Paused, Cancelled].map(|status| word_of(&status));
    assert_eq!(words, ["COMPLETED", "FAILED", "BLOCKED_USER", "PAUSED", "CANCELLED"]);

    use TaskStatus as Task;
    let words =
        [Task::Running, Task::Paused, Task::Completed, Task::Failed, Task::Cancelled].map(|status| word_of(&status));
    assert_eq!(words, ["RUNNING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"]);

    use DeliverableType::{Code, Data, Other, Report, Screenshot};
    let words = [Report, Code, Data, Screenshot, Other].map(|kind| word_of(&kind));
    assert_eq!(words, ["report", "code", "data", "screenshot", "other"]);

    use EvidenceType as Evidence;
    let words = [Evidence::Screenshot, Evidence::File, Evidence::Log, Evidence::Url].map(|kind| word_of(&kind));
    assert_eq!(words, ["screenshot", "file", "log", "url"]);

    use ErrorCategory::{AgentLevel, Permanent, ToolLevel, Transient};
    let words = [Transient, Permanent, AgentLevel, ToolLevel].map(|category| word_of(&category));
    assert_eq!(words, ["transient", "permanent", "agent_level", "tool_level"]);
}

#[test]
fn only_transient_errors_are_called_retryable() {
    let check = |code, word: &str, category, retryable| {
        let error = ErrorDetails::new(code, "why");
        assert_eq!((word_of(&code).as_str(), error.category, error.retryable), (word, category, retryable));
    };
    check(ErrorCode::MaxIterationsExceeded, "max_iterations_exceeded", ErrorCategory::AgentLevel, false);
    check(ErrorCode::Timeout, "timeout", ErrorCategory::AgentLevel, false);
    check(ErrorCode::BudgetExceeded, "budget_exceeded", ErrorCategory::AgentLevel, false);
    check(ErrorCode::ChecksFailed, "checks_failed", ErrorCategory::AgentLevel, false);
    check(ErrorCode::ModelUnavailable, "model_unavailable", ErrorCategory::Transient, true);
    check(ErrorCode::SandboxUnavailable, "sandbox_unavailable", ErrorCategory::Transient, true);
    check(ErrorCode::RunnerUnavailable, "runner_unavailable", ErrorCategory::Transient, true);
    check(ErrorCode::Interrupted, "interrupted", ErrorCategory::Transient, true);
    check(ErrorCode::ModelRejected, "model_rejected", ErrorCategory::Permanent, false);
    check(ErrorCode::Internal, "internal", ErrorCategory::Permanent, false);
    check(ErrorCode::Cancelled, "cancelled", ErrorCategory::Permanent, false);
}

#[test]
fn a_full_command_is_read_and_written_field_for_field() {
    let wire = json!({
        "command_id": ID, "session_id": ID, "task_id": ID,
        "goal": "Fix the test",
        "constraints": ["touch nothing else"],
        "execution_config": {
            "timeout_seconds": 60, "max_iterations": 5, "model": "m",
            "compaction": {
                "context_window_tokens": 128_000, "response_reserve_tokens": 1, "compaction_trigger_ratio": 0.5,
                "memory_flush_enabled": false, "memory_flush_soft_threshold_tokens": 2, "max_summary_tokens": 3,
                "preserve_recent_turns": 4,
            },
        },
        "resume_context": {
            "previous_messages": [{"role": "user", "content": "hi"}],
            "injection": {
                "injection_type": "hitl_response", "content": "yes", "metadata": {"request_id": "r"},
            },
        },
    });
    let command: TaskCommand = serde_json::from_value(wire.clone()).expect("the seed's command");
    assert_eq!(serde_json::to_value(&command).expect("plain data"), wire);
}

#[test]
fn a_bare_command_has_the_seeds_defaults() {
    let bare = json!({"command_id": ID, "session_id": ID, "task_id": ID, "goal": "g"});
    let partial = json!({"command_id": ID, "session_id": ID, "task_id": ID, "goal": "g",
                         "execution_config": {"compaction": {}}});
    for wire in [bare, partial] {
        let command: TaskCommand = serde_json::from_value(wire).expect("complete enough");
        let written = serde_json::to_value(&command).expect("plain data");
        assert_eq!(keys(&written), ["command_id", "execution_config", "goal", "session_id", "task_id"]);
        assert_eq!(
            written["execution_config"],
            json!({
                "timeout_seconds": 600, "max_iterations": 200, "model": "gpt-4o",
                "compaction": {
                    "response_reserve_tokens": 4096, "compaction_trigger_ratio": 0.85,
                    "memory_flush_enabled": true, "memory_flush_soft_threshold_tokens": 4000,
                    "max_summary_tokens": 2000, "preserve_recent_turns": 6,
                },
            })
        );
    }
}

#[test]
fn a_command_without_what_it_needs_is_refused() {
    let whole = json!({"command_id": ID, "session_id": ID, "task_id": ID, "goal": "g"});
    for field in ["command_id", "session_id", "task_id", "goal"] {
        let mut wire = whole.clone();
        wire.as_object_mut().expect("an object").remove(field);
        let refused = serde_json::from_value::<TaskCommand>(wire).expect_err(field);
        assert!(refused.to_string().contains(field), "{refused}");
    }
}

#[test]
fn a_budget_left_out_is_the_contracts_and_a_misspelt_one_is_refused() {
    let budget: Budget = serde_json::from_value(json!({})).expect("all defaults");
    let written = serde_json::to_value(&budget).expect("plain data");
    assert_eq!(
        written,
        json!({"max_tokens": 200_000, "max_cost_usd": 2.0, "max_wall_time_seconds": 1800, "max_attempts": 5,
               "max_planner_calls": 3})
    );
    assert!(serde_json::from_value::<Budget>(json!({"max_token": 5})).is_err());
}
