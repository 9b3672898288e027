//! The scenes with Claude Code, which asks over its structured channel.

use super::scenes::{Actor, scenes};

const COMMAND: &str = r#"{ tool: Bash, args: { command: "COMMAND", description: a command } }"#;
const ACTOR: Actor = Actor { agent: "claude-code", command: COMMAND, below: COMMAND };

scenes!(ACTOR);
