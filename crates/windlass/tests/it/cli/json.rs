//! `--json`: one object a line, the last one the result.

use std::collections::BTreeSet;

use serde_json::Value;

use super::scripts::{HELLO, THINKER};
use crate::support::{Home, read};
use rustix::process::Signal;

#[test]
fn every_line_is_a_record_and_the_last_is_the_result() {
    let home = Home::playing(HELLO);
    let ended = home.run(&["--json", "--base-case", "file: hello.txt"]).run().expect(0);
    assert_eq!(ended.stderr, "");
    let kinds: Vec<String> =
        ended.objects().iter().map(|object| object["type"].as_str().expect("a type").to_owned()).collect();
    insta::assert_snapshot!(kinds.join("\n"), @"
    task.created
    attempt.started
    journal.header
    state.changed
    state.changed
    message.accepted
    model.requested
    model.responded
    risk.checked
    tool.started
    tool.finished
    model.requested
    model.responded
    state.changed
    attempt.ended
    checks.recorded
    task.finished
    result
    ");
    for record in ended.objects().iter().filter(|object| object["type"] != "result") {
        assert!(record["version"].as_u64().is_some_and(|version| version > 0), "{record}");
    }
    let result = ended.result();
    let fields: Vec<&String> = result.as_object().expect("an object").keys().collect();
    insta::assert_snapshot!(format!("{fields:?}"), @r#"
    ["checks", "command_id", "cost_usd", "deliverables", "evidence_refs", "final_message", "session_id", "status", "task_id", "type", "usage", "verified"]
    "#);
    assert_eq!((&result["status"], &result["verified"]), (&"COMPLETED".into(), &true.into()));
    assert_eq!(result["final_message"], "Done.");
    let usage = &result["usage"];
    let counted = [
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "iterations",
        "tool_calls",
        "sub_agents_spawned",
        "compactions",
    ];
    insta::assert_snapshot!(counted.map(|name| format!("{name} {}", usage[name])).join("\n"), @"
    input_tokens 1900
    output_tokens 50
    total_tokens 1950
    iterations 2
    tool_calls 1
    sub_agents_spawned 0
    compactions 0
    ");
    assert_eq!(usage.as_object().expect("an object").len(), counted.len() + 1, "and the duration: {usage}");
    assert!(usage["duration_ms"].is_u64());
}

#[test]
fn what_was_printed_live_is_what_the_log_keeps() {
    let home = Home::playing(HELLO);
    let live = home.run(&["--json", "--base-case", "file: hello.txt"]).run().expect(0);
    let kept = home.windlass(&["log", "--json"]).run().expect(0);
    assert_eq!(sorted(live.objects()), sorted(kept.objects()));
}

#[test]
fn a_run_and_its_resume_together_print_the_whole_log() {
    let home = Home::playing(THINKER);
    let mut run = home.run(&["--json"]).start();
    run.wait_for_record("model.requested");
    run.signal(Signal::INT);
    let paused = run.end().expect(5);
    assert_eq!(paused.result()["status"], "PAUSED");
    let resumed = home.windlass(&["resume", "--json"]).run().expect(0);
    let mut live = paused.objects();
    live.pop().expect("the result of the pause, which is no record");
    live.extend(resumed.objects());
    let kept = home.windlass(&["log", "--json"]).run().expect(0);
    assert_eq!(sorted(live), sorted(kept.objects()));
}

#[test]
fn a_failure_is_a_result_as_well() {
    let home = Home::playing(super::scripts::RESTLESS);
    home.write("notes.txt", "");
    let result = home.run(&["--json", "--max-iterations", "1"]).run().expect(1).result();
    insta::assert_snapshot!(format!("{:#}", result["error_details"]), @r#"
    {
      "category": "agent_level",
      "error_code": "max_iterations_exceeded",
      "hint": "raise it with --max-iterations",
      "message": "the iteration limit is reached",
      "retryable": false
    }
    "#);
}

#[test]
fn other_commands_print_objects_too() {
    let home = Home::playing(HELLO);
    assert_eq!(home.windlass(&["status", "--json"]).run().expect(0).stdout, "");
    home.run(&[]).run().expect(0);
    let mut tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    let mut told = tasks.remove(0);
    assert!(tasks.is_empty());
    let fields: Vec<&String> = told.as_object().expect("an object").keys().collect();
    insta::assert_snapshot!(format!("{fields:?}"), @r#"["attempts", "created_at", "goal", "result", "standing", "status", "task_id", "type", "waits_for", "workspace"]"#);
    assert_eq!((&told["type"], &told["standing"]), (&"task".into(), &"completed".into()));
    told["result"]["type"] = "result".into();
    assert_eq!(told["result"], read(&home).result.expect("a result"));
    let doctor = home.windlass(&["doctor", "--json"]).run().expect(0);
    assert_eq!(doctor.result()["ready"], true);
    let kinds: BTreeSet<String> =
        doctor.objects().iter().map(|finding| finding["type"].as_str().expect("a type").to_owned()).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["finding", "result"]);
}

/// Two streams have no common order on the wire; together they have the same records.
fn sorted(objects: Vec<Value>) -> Vec<String> {
    let mut lines: Vec<String> = objects.iter().map(ToString::to_string).collect();
    lines.sort();
    lines
}

/// Another process is given the task, as after a silence that was taken for death: this one can do no more, and says so.
#[test]
fn the_last_line_is_a_result_also_when_the_work_cannot_go_on() {
    let home = Home::playing(THINKER);
    let mut run = home.run(&["--json"]).start();
    let task = run.wait_for_record("task.created")["task_id"].as_str().expect("an id").to_owned();
    run.wait_for_record("model.requested");
    take_away(&home, &task);
    run.signal(Signal::INT);
    let ended = run.end().expect(1);
    assert!(ended.stderr.contains("another process has taken over"), "{}", ended.stderr);
    let result = ended.result();
    let error = &result["error_details"];
    insta::assert_snapshot!(format!("{} {} {}", result["status"], result["verified"], error["error_code"]), @r#""PAUSED" false "interrupted""#);
    assert_eq!(result["task_id"], task.as_str());
    assert!(error["message"].as_str().is_some_and(|message| message.contains("another process")), "{error}");
}

fn take_away(home: &Home, task: &str) {
    use windlass_store::{Fence, LeaseName, Store as _, lease};
    let threads = windlass_runtime::Threads::One;
    windlass_runtime::executor(threads).expect("a runtime").block_on(async {
        let runtime = std::sync::Arc::new(windlass_runtime::TokioRuntime::current());
        let options = windlass_store::sqlite::Options::new(home.data()).on_callers_thread();
        let store = windlass_store::sqlite::SqliteStore::open(options, runtime).expect("the same database");
        let (tenant, name) = (windlass_domain::Tenant::local(), LeaseName::new("task", task));
        let row = store.lease(&tenant, &name).await.expect("it can be read").expect("it is held");
        let holder = row.holder.expect("by the run").id;
        let fence = Fence { lease: name, owner: holder, epoch: row.epoch };
        lease::release(&store, &tenant, fence, windlass_domain::Wall::from_millis(0)).await.expect("released");
    });
}
