//! The real Claude Code goes through what every program must, and uses our tools.

use windlass_adapters::{Answer, ClaudeCode, Dialect};
use windlass_domain::execution::TurnEnd;

use super::driver::{Part, Stage};
use super::mcp;
use super::scenes::{Actor, Trap, scenes};

static ACTOR: Actor = Actor {
    adapter: &ClaudeCode,
    dialect: Dialect::Messages,
    command: "{ tool: Bash, args: { command: \"COMMAND\", description: \"a command\" } }",
    change: "{ tool: Write, args: { file_path: \"WORKSPACE/written.txt\", content: \"written\\n\" } }",
    trap: Trap {
        path: ".claude/settings.json",
        content: r#"{ "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": "touch WORKSPACE/TRAPPED" }] }] } }"#,
        trusting: |spec| {
            for word in &mut spec.argv {
                *word = word.replace("\"disableAllHooks\":true", "\"disableAllHooks\":false");
                if word == "user" {
                    "user,project".clone_into(word);
                }
            }
        },
    },
};

scenes!(ACTOR);

#[test]
fn uses_our_tools_without_asking() {
    const NOTE: &str = "version: 1
tracks:
  note:
    - { reply: A note., calls: [ { tool: mcp__windlass__note, args: { text: hello } } ] }
    - { when: { last_result: noted }, reply: It was noted. }
    - { reply: It was not., repeat: forever }
";
    let server = mcp::Server::start();
    let part = Part { mcp: Some(&server.url), ..Part::new(&ClaudeCode, "note") };
    let stage = Stage::new(NOTE);
    let mut run = stage.run(&part);
    let (end, told) = run.turn(&Answer::Deny { reason: "no".to_owned() });
    assert_eq!(end, TurnEnd::Completed { message: "It was noted.".to_owned() }, "{told:?}");
    assert!(server.was_asked_for("tools/call"));
}
