//! Pi, which is asked by a hook of ours.

use super::scenes::{Actor, scenes};

const ACTOR: Actor = Actor { agent: "pi", command: r#"{ tool: bash, args: { command: "COMMAND" } }"# };

scenes!(ACTOR);
