//! Seed 000 §16.2: a test for each row, named after it, as Prometheus sees it; and that what agents name stays bounded.

use serde_json::json;
use windlass_telemetry::{Metric, Registry, TaskLabels};

use crate::records::{TASK, Watched};

/// All of these are among the lines.
#[track_caller]
fn check(watched: &Watched, expected: &[&str]) {
    shows(&watched.registry, expected);
}

#[track_caller]
fn shows(registry: &Registry, expected: &[&str]) {
    let text = registry.to_prometheus();
    for line in expected {
        assert!(text.lines().any(|shown| shown == *line), "`{line}` is not in\n{text}");
    }
}

fn watched() -> Watched {
    Watched::new(TaskLabels::Off)
}

fn two_turns(watched: Watched) -> Watched {
    let asked = |purpose| json!({"iteration": 1, "purpose": purpose, "prompt": "0".repeat(64), "messages": 1, "estimated_input": 1});
    watched
        .moved("running")
        .execution("model.requested", &asked(json!("turn")))
        .execution("model.requested", &asked(json!({"summary": {"from": 1, "to": 2}})))
        .after(1_000)
        .execution("model.requested", &asked(json!("turn")))
        .after(1_000)
        .moved("completed")
}

#[test]
fn agent_loop_iterations() {
    let types = "# TYPE agent_loop_iterations counter";
    check(&two_turns(watched()), &[types, "agent_loop_iterations{status=\"completed\"} 2"]);
    let labelled = format!("agent_loop_iterations{{task_id=\"{TASK}\",status=\"completed\"}} 2");
    check(&two_turns(Watched::new(TaskLabels::On)), &[&labelled]);
}

#[test]
fn agent_loop_duration_ms() {
    check(
        &two_turns(watched()),
        &[
            "# TYPE agent_loop_duration_ms histogram",
            "agent_loop_duration_ms_bucket{status=\"completed\",le=\"1000\"} 0",
            "agent_loop_duration_ms_bucket{status=\"completed\",le=\"2500\"} 1",
            "agent_loop_duration_ms_bucket{status=\"completed\",le=\"+Inf\"} 1",
            "agent_loop_duration_ms_sum{status=\"completed\"} 2000",
            "agent_loop_duration_ms_count{status=\"completed\"} 1",
        ],
    );
}

#[test]
fn agent_loop_waiting_is_no_duration() {
    let waited = watched().moved("running").after(10).moved("awaiting_input").after(9_000).moved("running").after(10);
    let rested = [
        "agent_loop_duration_ms_sum{status=\"awaiting_input\"} 10",
        "agent_loop_duration_ms_sum{status=\"failed\"} 10",
    ];
    check(&waited.moved("failed"), &rested);
}

#[test]
fn agent_tool_calls() {
    let counted =
        watched().calls("grep").finished("grep", "ok", "").calls("bash").risk("high").finished("bash", "ok", "");
    check(
        &counted.finished("write", "ok", ""),
        &[
            "agent_tool_calls{tool_name=\"grep\",risk_level=\"low\"} 1",
            "agent_tool_calls{tool_name=\"bash\",risk_level=\"high\"} 1",
            "agent_tool_calls{tool_name=\"write\",risk_level=\"unknown\"} 1",
        ],
    );
}

#[test]
fn agent_tool_duration_ms() {
    check(&watched().finished("grep", "ok", ""), &["agent_tool_duration_ms_sum{tool_name=\"grep\"} 40"]);
}

#[test]
fn agent_tool_errors() {
    let failed = watched().finished("bash", "timed_out", "");
    check(&failed, &["agent_tool_errors{tool_name=\"bash\",error_type=\"timed_out\"} 1"]);
    assert!(!watched().finished("bash", "ok", "").registry.to_prometheus().contains("agent_tool_errors"));
}

#[test]
fn agent_compaction_count() {
    check(&watched().compacted().compacted(), &["agent_compaction_count 2"]);
    let labelled = format!("agent_compaction_count{{task_id=\"{TASK}\"}} 1");
    check(&Watched::new(TaskLabels::On).compacted(), &[&labelled]);
}

#[test]
fn agent_compaction_tokens_before() {
    check(&watched().compacted(), &["agent_compaction_tokens_before_sum 90000"]);
}

#[test]
fn agent_compaction_tokens_after() {
    check(&watched().compacted(), &["agent_compaction_tokens_after_bucket{le=\"16000\"} 1"]);
}

#[test]
fn agent_subagent_spawned() {
    check(&watched().spawned(), &["agent_subagent_spawned 1"]);
}

#[test]
fn agent_subagent_duration_ms() {
    check(&watched().child_ended(), &["agent_subagent_duration_ms_sum{status=\"timeout\"} 900"]);
}

#[test]
fn agent_llm_latency_ms() {
    check(&Watched::created("x").calls("bash"), &["agent_llm_latency_ms_sum{model=\"gpt-4o\"} 1200"]);
}

#[test]
fn agent_llm_tokens() {
    let counted = watched().calls("bash");
    check(&counted, &["agent_llm_tokens{direction=\"input\"} 100", "agent_llm_tokens{direction=\"output\"} 7"]);
    let failed = json!({"iteration": 1, "reason": "down", "usage": {"input": 5, "output": 0}, "cost": 0.0});
    check(&counted.execution("model.failed", &failed), &["agent_llm_tokens{direction=\"input\"} 105"]);
}

/// The GenAI semantic conventions, with their attributes, bounds and units.
#[test]
fn gen_ai_client_token_usage() {
    let labels = "gen_ai_operation_name=\"chat\",gen_ai_provider_name=\"openai\",gen_ai_request_model=\"gpt-4o\"";
    let counted = Watched::created("x").calls("bash");
    let bucket = |kind: &str, le: &str, count: u32| {
        format!("gen_ai_client_token_usage_bucket{{{labels},gen_ai_token_type=\"{kind}\",le=\"{le}\"}} {count}")
    };
    let expected =
        [bucket("input", "64", 0), bucket("input", "256", 1), bucket("output", "4", 0), bucket("output", "16", 1)];
    check(&counted, &expected.each_ref().map(String::as_str));
}

#[test]
fn gen_ai_client_operation_duration() {
    let labels = "gen_ai_operation_name=\"chat\",gen_ai_provider_name=\"openai\",gen_ai_request_model=\"gpt-4o\"";
    let name = "gen_ai_client_operation_duration";
    let answered = Watched::created("x").calls("bash");
    let expected = [
        format!("{name}_bucket{{{labels},le=\"0.64\"}} 0"),
        format!("{name}_bucket{{{labels},le=\"1.28\"}} 1"),
        format!("{name}_sum{{{labels}}} 1.2"),
    ];
    check(&answered, &expected.each_ref().map(String::as_str));
    let failed = json!({"iteration": 1, "reason": "down", "usage": {"input": 5, "output": 0}, "cost": 0.0});
    let failed = Watched::created("x").asks().after(2_500).execution("model.failed", &failed);
    check(&failed, &[&format!("{name}_sum{{{labels},error_type=\"_OTHER\"}} 2.5")]);
}

#[test]
fn agent_doom_loop_detected() {
    check(&watched().in_a_loop(), &["agent_doom_loop_detected 1"]);
}

#[test]
fn tools_that_a_model_makes_up_are_bounded_and_cannot_forge_a_line() {
    let mut counted = watched();
    for number in 0..2_000 {
        counted = counted.finished(&format!("made-up-{number}"), "error", "");
    }
    let text = counted.registry.to_prometheus();
    assert!(text.lines().filter(|line| line.starts_with("agent_tool_calls{")).count() <= 501, "{}", text.len());
    check(&counted, &["agent_tool_errors{tool_name=\"other\",error_type=\"other\"} 1500"]);
    let forged = watched().finished("x\"} 1\nagent_llm_tokens{direction=\"input\"} 9", "ok", "");
    let text = forged.registry.to_prometheus();
    assert!(text.lines().all(|line| !line.starts_with("agent_llm_tokens")), "{text}");
    let long = watched().finished(&"ü".repeat(100_000), "ok", "");
    assert!(long.registry.to_prometheus().len() < 10_000);
}

#[test]
fn the_newest_of_a_gauge_stands() {
    let registry = Registry::default();
    registry.add(Metric::gauge("queue_depth_sample", 7).with("queue_name", "executor"));
    registry.add(Metric::gauge("queue_depth_sample", 3).with("queue_name", "executor"));
    shows(&registry, &["# TYPE queue_depth_sample gauge", "queue_depth_sample{queue_name=\"executor\"} 3"]);
}
