//! An objective whose atoms are worked on by the native loop and by two programs of others.

use std::fs;

use super::scenes::agents;
use crate::support::{Home, none_left};

const SCRIPT: &str = r#"
version: 1
tracks:
  executor:
    - reply: The first file.
      calls: [ { tool: write, args: { path: a.txt, content: "a\n" } } ]
    - reply: '{"success": true, "bindings_delta": {"summary": "a.txt holds a"}, "artifacts": ["a.txt"]}'
  claude-code:
    - reply: The second file.
      calls: [ { tool: Bash, args: { command: "cat a.txt > b.txt", description: copy } } ]
    - reply: '{"success": true, "bindings_delta": {"summary": "b.txt holds a"}, "artifacts": ["b.txt"]}'
  codex:
    - reply: The third file.
      calls: [ { tool: exec_command, args: { cmd: "cat a.txt > c.txt" } } ]
    - reply: '{"success": true, "bindings_delta": {"summary": "c.txt holds a"}, "artifacts": ["c.txt"]}'
"#;

const OBJECTIVE: &str = "---
objective: {goal: Three files, base_case: [{command: cat a.txt b.txt c.txt}]}
atoms:
  - {id: a, description: Write the first file., touches: {paths: [a.txt]}, verify: [{file: a.txt}]}
  - {id: b, description: Copy it., depends_on: [a], agent: claude-code, touches: {paths: [b.txt]}, verify: [{file: b.txt}]}
  - {id: c, description: Copy it again., depends_on: [a], agent: codex, touches: {paths: [c.txt]}, verify: [{file: c.txt}]}
---
As agreed.
";

#[test]
fn an_objective_is_shared_between_the_native_loop_and_two_programs() {
    let home = Home::playing(SCRIPT);
    let file = home.path().join("objective.md");
    fs::write(&file, OBJECTIVE).expect("written");
    let agents = agents();
    let agents = agents.to_str().expect("a plain path");
    let script = home.script();
    let from = ["align", "--from", file.to_str().expect("plain"), "--rehearsal", script.to_str().expect("plain")];
    home.windlass(&from).env("WINDLASS_AGENTS", agents).run().expect(0);
    let ended = home.windlass(&["start"]).env("WINDLASS_AGENTS", agents).run().expect(0);
    assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
    assert!(ended.stdout.contains("Claude Code") && ended.stdout.contains("Codex"), "{}", ended.stdout);
    assert_eq!((home.read("b.txt").as_str(), home.read("c.txt").as_str()), ("a\n", "a\n"));
    none_left(&home);
}
