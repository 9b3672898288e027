//! The scenes with GitHub Copilot CLI, which asks over its headless server.

use super::scenes::{Actor, scenes};

const ACTOR: Actor = Actor {
    agent: "copilot",
    command: r#"{ tool: bash, args: { command: "COMMAND", description: a command, initial_wait: 120 } }"#,
};

scenes!(ACTOR);
