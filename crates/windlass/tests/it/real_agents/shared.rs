//! An objective whose atoms are worked on by the native loop and by three programs of others.

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
  opencode:
    - reply: The fourth file.
      calls: [ { tool: bash, args: { command: "cat a.txt > d.txt", description: copy } } ]
    - reply: '{"success": true, "bindings_delta": {"summary": "d.txt holds a"}, "artifacts": ["d.txt"]}'
"#;

const OBJECTIVE: &str = "---
objective: {goal: Four files, base_case: [{command: cat a.txt b.txt c.txt d.txt}]}
atoms:
  - {id: a, description: Write the first file., touches: {paths: [a.txt]}, verify: [{file: a.txt}]}
  - {id: b, description: Copy it., depends_on: [a], agent: claude-code, touches: {paths: [b.txt]}, verify: [{file: b.txt}]}
  - {id: c, description: Copy it again., depends_on: [a], agent: codex, touches: {paths: [c.txt]}, verify: [{file: c.txt}]}
  - {id: d, description: Copy it once more., depends_on: [a], agent: opencode, touches: {paths: [d.txt]}, verify: [{file: d.txt}]}
---
As agreed.
";

#[test]
fn an_objective_is_shared_between_the_native_loop_and_three_programs() {
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
    for agent in ["Claude Code", "Codex", "OpenCode"] {
        assert!(ended.stdout.contains(agent), "{}", ended.stdout);
    }
    assert_eq!(["b.txt", "c.txt", "d.txt"].map(|file| home.read(file)), ["a\n"; 3]);
    none_left(&home);
}
