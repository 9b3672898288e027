//! The real Claude Code goes through what every program must, and uses our tools.

use windlass_adapters::{Answer, ClaudeCode, Dialect, Session};
use windlass_domain::execution::TurnEnd;

use super::driver::{Part, Stage};
use super::mcp;
use super::scenes::{Actor, Trap};
use crate::launching::SESSION;

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

#[test]
fn says_something() {
    ACTOR.says_something();
}

#[test]
fn does_what_is_allowed() {
    ACTOR.does_what_is_allowed();
}

#[test]
fn does_not_what_is_denied_and_is_told_why() {
    ACTOR.does_not_what_is_denied_and_is_told_why();
}

#[test]
fn ends_its_turn_when_it_is_held_and_goes_on_when_told() {
    ACTOR.ends_its_turn_when_it_is_held_and_goes_on_when_told();
}

#[test]
fn is_interrupted_at_work_and_takes_the_next_message() {
    ACTOR.is_interrupted_at_work_and_takes_the_next_message();
}

#[test]
fn is_interrupted_while_it_asks() {
    ACTOR.is_interrupted_while_it_asks();
}

#[test]
fn hears_a_message_while_it_works() {
    ACTOR.hears_a_message_while_it_works();
}

#[test]
fn switches_its_model() {
    ACTOR.switches_its_model();
}

#[test]
fn goes_on_in_a_new_process_after_a_kill() {
    ACTOR.goes_on_in_a_new_process_after_a_kill();
}

#[test]
fn forks() {
    ACTOR.forks();
}

#[test]
fn says_why_the_model_failed() {
    ACTOR.says_why_the_model_failed();
}

#[test]
fn starts_nothing_that_the_workspace_names() {
    ACTOR.starts_nothing_that_the_workspace_names();
}

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
    let part = Part {
        adapter: &ClaudeCode,
        dialect: Dialect::Messages,
        model: "rehearsal/note",
        session: Session::New(SESSION),
        prompt: "go",
        mcp: Some(&server.url),
    };
    let stage = Stage::new(NOTE);
    let mut run = stage.run(&part, |_| {});
    let (end, told) = run.turn(&Answer::Deny { reason: "no".to_owned() });
    assert_eq!(end, TurnEnd::Completed { message: "It was noted.".to_owned() }, "{told:?}");
    assert!(server.was_asked_for("tools/call"));
}
