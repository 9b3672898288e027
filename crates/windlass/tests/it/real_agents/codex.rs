//! The scenes with Codex, which asks over its app server.

use super::scenes::{Actor, scenes};

const ACTOR: Actor =
    Actor { agent: "codex", command: r#"{ tool: exec_command, args: { cmd: "COMMAND", yield_time_ms: 60000 } }"# };

scenes!(ACTOR);
