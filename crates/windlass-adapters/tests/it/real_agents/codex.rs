//! The real Codex goes through what every program must, has our tools, and has no terminal of its own.

use windlass_adapters::{Answer, Codex, Dialect, LaunchSpec, Session};
use windlass_domain::execution::{Failure, TurnEnd};

use super::driver::{Part, Stage};
use super::mcp;
use super::scenes::{Actor, Trap};
use crate::launching::SESSION;

static ACTOR: Actor = Actor {
    adapter: &Codex,
    dialect: Dialect::Responses,
    command: "{ tool: exec_command, args: { cmd: \"COMMAND\" } }",
    change: concat!(
        "{ tool: exec_command, args: { cmd: \"apply_patch <<'E'\\n*** Begin Patch\\n",
        "*** Add File: written.txt\\n+written\\n*** End Patch\\nE\\n\" } }"
    ),
    trap: Trap {
        path: ".codex/config.toml",
        content: "[mcp_servers.trap]\ncommand = \"touch\"\nargs = [\"WORKSPACE/TRAPPED\"]\n",
        trusting: |spec| spec.files[0].content.clear(),
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

fn part() -> Part<'static> {
    let session = Session::New(SESSION);
    Part { adapter: &Codex, dialect: Dialect::Responses, model: "rehearsal/talk", session, prompt: "go", mcp: None }
}

/// It asks before it opens a terminal of its own, but not before it types into it.
#[test]
fn opens_no_terminal_that_it_could_type_into() {
    const TERMINAL: &str = "version: 1
tracks:
  terminal:
    - { reply: A shell., calls: [ { tool: exec_command, args: { cmd: cat, tty: true, yield_time_ms: 250 } } ] }
    - { reply: Done., repeat: forever }
";
    let asked = |change: fn(&mut LaunchSpec)| {
        let stage = Stage::new(TERMINAL);
        let mut run = stage.run(&Part { model: "rehearsal/terminal", ..part() }, change);
        let (end, told) = run.turn(&Answer::Allow);
        assert_eq!(end, TurnEnd::Completed { message: "Done.".to_owned() });
        told.iter().any(|line| line.starts_with("asked"))
    };
    assert!(!asked(|_| {}));
    let with_terminals: fn(&mut LaunchSpec) = |spec| {
        for word in &mut spec.argv {
            if word == "unified_exec_tty" {
                "plugins".clone_into(word);
            }
        }
    };
    assert!(asked(with_terminals), "it would open one");
}

#[test]
fn has_our_tools() {
    let server = mcp::Server::start();
    let stage = Stage::new("{ version: 1, tracks: { talk: [ { reply: Hello., repeat: forever } ] } }");
    let mut run = stage.run(&Part { mcp: Some(&server.url), ..part() }, |_| {});
    assert_eq!(run.turn(&Answer::Allow).0, TurnEnd::Completed { message: "Hello.".to_owned() });
    assert!(server.was_asked_for("tools/list"));
}

#[test]
fn does_not_work_without_the_tools_that_it_was_given() {
    let stage = Stage::new("{ version: 1, tracks: { talk: [ { reply: Hello., repeat: forever } ] } }");
    let mut run = stage.run(&Part { mcp: Some("http://127.0.0.1:9/mcp"), ..part() }, |_| {});
    let (end, _) = run.turn(&Answer::Allow);
    assert!(matches!(end, TurnEnd::Failed { why: Failure::Agent, .. }), "{end:?}");
}
