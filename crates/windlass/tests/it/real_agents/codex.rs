//! The scenes with Codex, which asks over its app server.

use super::scenes::{Actor, scenes};

const ACTOR: Actor = Actor {
    agent: "codex",
    command: r#"{ tool: exec_command, args: { cmd: "COMMAND", yield_time_ms: 60000 } }"#,
    below: r#"{ tool: exec_command, args: { cmd: "COMMAND", workdir: /workspace/sub } }"#,
};

scenes!(ACTOR);

/// Regression: variables in its home were obeyed, and with them a program before every command.
#[test]
fn variables_that_were_left_in_its_home_are_not_obeyed() {
    ACTOR.what_was_left_in_its_home_is_not_obeyed(|home| {
        std::fs::write(home.join(".codex/.env"), "BASH_ENV=/home/agent/first\nPATH=/home/agent/evil:/usr/bin:/bin\n")
            .expect("planted");
        std::fs::write(home.join("first"), "touch /workspace/planted.txt\n").expect("planted");
    });
}
