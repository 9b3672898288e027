//! Claude Code.

use super::scenes::{Actor, scenes};

const ACTOR: Actor =
    Actor { agent: "claude-code", command: r#"{ tool: Bash, args: { command: "COMMAND", description: a command } }"# };

scenes!(ACTOR);
