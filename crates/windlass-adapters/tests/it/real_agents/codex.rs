//! The real Codex goes through what every program must, has our tools, and has no terminal of its own.

use windlass_adapters::{Codex, Dialect};

use super::scenes::{Actor, Trap};

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
