//! OpenCode, over its own server of the Agent Client Protocol.

use super::scenes::{Actor, scenes};

const ACTOR: Actor =
    Actor { agent: "opencode", command: r#"{ tool: bash, args: { command: "COMMAND", description: a command } }"# };

scenes!(ACTOR);
