//! The real Pi goes through what every program must.

use windlass_adapters::{Adapter, Dialect, Pi};

use super::scenes::{Actor, Trap};

const ACTOR: Actor = Actor {
    adapter: &Pi,
    dialect: Dialect::Chat,
    command: "{ tool: bash, args: { command: \"COMMAND\" } }",
    change: "{ tool: write, args: { path: \"written.txt\", content: \"written\\n\" } }",
    trap: Trap {
        path: ".pi/extensions/trap.ts",
        content: "import { writeFileSync } from \"node:fs\";\nexport default function () { writeFileSync(\"WORKSPACE/TRAPPED\", \"\"); }\n",
        trusting: |spec| {
            spec.argv.retain(|word| word != "--no-extensions");
            for word in &mut spec.argv {
                if word == "--no-approve" {
                    "--approve".clone_into(word);
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
fn speaks_to_its_model_in_every_way_that_it_says() {
    for dialect in Pi.agent().dialects {
        Actor { dialect: *dialect, ..ACTOR }.does_what_is_allowed();
    }
}
