//! `spawn_agent`: what is asked is looked at here, the agent is run by the host.

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_domain::{CallStatus, Effect, HostWork, Spawn};

use crate::support::Bench;

fn asked(bench: &Bench, arguments: &Value) -> Option<Spawn> {
    let ran = bench.run("spawn_agent", arguments, Effect::Child);
    assert_eq!(ran.status, CallStatus::Ok);
    match ran.request?.work {
        HostWork::SpawnChild(spawn) => Some(spawn),
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_is_handed_to_the_host_as_it_was_asked_for() {
    let bench = Bench::new();
    let whole = json!({
        "task": "Find the pricing", "label": " research ", "timeout_seconds": 9, "write_output_to": "output/new/it.md",
    });
    assert_eq!(bench.prepare("spawn_agent", &whole), Ok(Effect::Child));
    assert!(!bench.path("output").exists(), "preparing changes nothing");
    assert_eq!(
        asked(&bench, &whole),
        Some(Spawn {
            task: "Find the pricing".to_owned(),
            label: Some("research".to_owned()),
            timeout_seconds: Some(9),
            write_output_to: Some("output/new/it.md".to_owned()),
        })
    );
    let bare = Spawn { task: "x".to_owned(), label: None, timeout_seconds: None, write_output_to: None };
    assert_eq!(asked(&bench, &json!({ "task": "x", "label": " " })), Some(bare));
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_is() {
    let bench = Bench::new();
    bench.put("folder/file", "");
    let refused = |arguments: Value| bench.prepare("spawn_agent", &arguments).unwrap_err();
    assert_snapshot!(refused(json!({ "task": " \n" })), @"
    Error: `task` is empty; say what the sub-agent should do
    ");
    assert_snapshot!(refused(json!({ "task": "x".repeat(10 << 20) })), @"
    Error: `task` is longer than 50000 characters; put the details into a file and name it
    ");
    assert_snapshot!(refused(json!({ "task": "x", "label": "a\nb" })), @"
    Error: `label` must be a short name: at most 60 characters in one line
    ");
    assert_snapshot!(refused(json!({ "task": "x", "timeout_seconds": 0 })), @"
    Error: invalid arguments for `spawn_agent`; nothing was done:
    - `timeout_seconds`: must be an integer of at least 1, not 0
    ");
    for path in ["../out.md", "/etc/passwd", "folder", "folder/../../out.md"] {
        let said = refused(json!({ "task": "x", "write_output_to": path }));
        assert!(said.starts_with("Error: `write_output_to`: "), "{path}: {said}");
    }
}
