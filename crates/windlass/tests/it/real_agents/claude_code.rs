//! The scenes with Claude Code, which asks over its structured channel.

use super::scenes::{Actor, scenes};

const ACTOR: Actor =
    Actor { agent: "claude-code", command: r#"{ tool: Bash, args: { command: "COMMAND", description: a command } }"# };

scenes!(ACTOR);
