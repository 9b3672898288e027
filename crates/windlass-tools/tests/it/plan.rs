//! `update_plan`, to the letter of seed 000 §5.3.

use insta::assert_snapshot;
use serde_json::json;
use windlass_domain::{Digest, Effect};

use crate::support::Bench;

#[test]
fn the_plan_is_written_and_returned() {
    let bench = Bench::new();
    let plan = json!({
        "overall_approach": "Test first",
        "current_focus": "The failing test",
        "steps": [
            { "id": "1", "description": "Read the code", "status": "done" },
            { "id": "2", "description": "Fix it", "status": "in_progress", "notes": "off by one" },
            { "id": "3", "description": "Run the tests", "status": "pending", "notes": "" },
            { "id": "4", "description": "Deploy", "status": "blocked" },
            { "id": "5", "description": "Celebrate", "status": "skipped" },
        ],
    });
    assert_snapshot!(bench.ok("update_plan", &plan), @r"
    Plan updated (1/5 done).

    # Execution Plan

    **Approach**: Test first

    **Current focus**: The failing test

    ## Steps

    - [x] **1**: Read the code
    - [>] **2**: Fix it — _off by one_
    - [ ] **3**: Run the tests
    - [!] **4**: Deploy
    - [-] **5**: Celebrate
    ");
    let written = bench.text(".plan.md");
    assert!(written.starts_with("# Execution Plan\n\n**Approach**"));
    assert!(written.ends_with("- [-] **5**: Celebrate\n"));
}

#[test]
fn an_empty_plan_is_a_plan_and_the_intent_says_what_the_file_will_be() {
    let bench = Bench::new();
    let plan = json!({ "steps": [], "overall_approach": "" });
    let Ok(Effect::Probe(probe)) = bench.prepare("update_plan", &plan) else { panic!("not a probe") };
    assert_eq!((probe.path.as_str(), probe.before), (".plan.md", None));
    assert_eq!(bench.ok("update_plan", &plan), probe.result);
    assert_eq!(Digest::of(bench.text(".plan.md").as_bytes()), probe.after);
    assert_eq!(bench.text(".plan.md"), "# Execution Plan\n\n## Steps\n\n");
}

#[test]
fn a_plan_file_that_leads_out_is_not_followed() {
    let bench = Bench::new();
    std::os::unix::fs::symlink("../secret", bench.path(".plan.md")).unwrap();
    let plan = json!({ "steps": [{ "id": "1", "description": "a", "status": "done" }] });
    assert_snapshot!(bench.error("update_plan", &plan), @"Error: .plan.md: leads outside the workspace; use a path below /workspace");
}
