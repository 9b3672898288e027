//! Bad arguments are answers a model can act on: all problems at once, each with its path, and nothing is done.

use insta::assert_snapshot;
use serde_json::json;

use crate::support::Bench;

fn refused(tool: &str, arguments: &serde_json::Value) -> String {
    let bench = Bench::new();
    let refusal = bench.prepare(tool, arguments).unwrap_err();
    assert_eq!(std::fs::read_dir(bench.path("")).unwrap().count(), 0);
    refusal
}

#[test]
fn every_problem_is_named_at_once_with_its_path() {
    assert_snapshot!(
        refused("read", &json!({ "file_path": "a", "limit": "10", "offset": 0 })),
        @r#"
    Error: invalid arguments for `read`; nothing was done:
    - `path`: missing; it must be a string
    - `file_path`: unknown field; did you mean `path`? (known: limit, offset, path)
    - `limit`: must be an integer of at least 1, not the string "10"
    - `offset`: must be an integer of at least 1, not 0
    "#
    );
}

#[test]
fn problems_deep_inside_have_their_whole_path() {
    let steps = json!({ "steps": [
        { "id": "1", "description": "a", "status": "done" },
        { "id": 2, "status": "finished" },
        "three",
    ] });
    assert_snapshot!(refused("update_plan", &steps), @r#"
    Error: invalid arguments for `update_plan`; nothing was done:
    - `steps[1].description`: missing; it must be a string
    - `steps[1].id`: must be a string, not 2
    - `steps[1].status`: must be one of "pending", "in_progress", "done", "blocked", "skipped", not the string "finished"
    - `steps[2]`: must be an object, not the string "three"
    "#);
}

#[test]
fn other_mistakes_are_told_as_plainly() {
    assert_snapshot!(
        refused("grep", &json!({ "pattern": "", "output_mode": "file", "context": 99, "case_insensitive": "yes" })),
        @r#"
    Error: invalid arguments for `grep`; nothing was done:
    - `case_insensitive`: must be true or false, not the string "yes"
    - `context`: must be an integer from 0 to 20, not 99
    - `output_mode`: must be one of "content", "files", "count", not the string "file"; did you mean "files"?
    - `pattern`: must not be empty
    "#
    );
    assert_snapshot!(refused("write", &json!([])), @"Error: the arguments of `write` must be one JSON object");
    assert_snapshot!(refused("bash", &json!({ "command": "a\0b" })), @"Error: `command`: must not contain a zero byte");
    assert_snapshot!(refused("bash", &json!({ "command": "ls", "timeout_seconds": 1.5 })), @r"
    Error: invalid arguments for `bash`; nothing was done:
    - `timeout_seconds`: must be an integer from 1 to 3600, not 1.5
    ");
    let much = refused("read", &json!({ "path": ["x".repeat(10_000)], "limit": "y".repeat(10_000) }));
    assert!(much.len() < 400, "{much}");
}

#[test]
fn text_that_is_no_json_is_said_so() {
    let bench = Bench::new();
    assert_snapshot!(
        bench.prepare_text("write", "{\"path\": \"a\", \"content\": \"unfinished").unwrap_err(),
        @r#"Error: the arguments of `write` are not valid JSON; send one JSON object. They began: {"path": "a", "content": "unfinished"#
    );
}

#[test]
fn an_unknown_tool_is_answered_with_those_there_are() {
    let bench = Bench::new();
    assert_snapshot!(bench.prepare("read_file", &json!({})).unwrap_err(), @"
    Error: there is no tool `read_file`; did you mean `read`? The tools are: ask_user, bash, edit, glob, grep, monitor, publish_deliverable, python_exec, read, save_memo, search_memo, spawn_agent, update_plan, write
    ");
    assert_snapshot!(bench.prepare("browser", &json!({})).unwrap_err(), @"
    Error: there is no tool `browser`. The tools are: ask_user, bash, edit, glob, grep, monitor, publish_deliverable, python_exec, read, save_memo, search_memo, spawn_agent, update_plan, write
    ");
}

#[test]
fn null_stands_for_a_field_left_out() {
    let bench = Bench::new();
    bench.put("a", "text");
    assert!(bench.prepare("read", &json!({ "path": "a", "offset": null, "limit": null })).is_ok());
    assert!(bench.prepare("read", &json!({ "path": null })).is_err());
}

#[test]
fn fields_the_seed_does_not_forbid_are_let_pass() {
    let steps =
        json!({ "steps": [{ "id": "1", "description": "a", "status": "done", "priority": 1 }], "mood": "fine" });
    assert!(Bench::new().prepare("update_plan", &steps).is_ok());
}
