//! OpenCode, over its own server of the Agent Client Protocol.

use std::path::Path;
use std::process::Command;

use super::scenes::{Actor, scenes};

const ACTOR: Actor = Actor {
    agent: "opencode",
    command: r#"{ tool: bash, args: { command: "COMMAND", description: a command } }"#,
    below: r#"{ tool: bash, args: { command: "COMMAND", description: a command, workdir: /workspace/sub } }"#,
};

scenes!(ACTOR);

/// Regression: leave that stood in its database was given from the next launch on.
#[test]
fn leave_that_was_left_in_its_database_is_not_given() {
    ACTOR.what_was_left_in_its_home_is_not_obeyed(|home| {
        plant(
            home,
            r#"UPDATE session SET permission = '[{"permission":"*","pattern":"*","action":"allow"}]';
            INSERT INTO permission SELECT 'per_x', id, '*', '*', 1, 1 FROM project;"#,
        );
    });
}

/// Nothing is forgotten for good where something brings it back.
#[test]
fn a_database_with_a_trigger_is_not_gone_on_with() {
    let home = ACTOR.held();
    plant(
        &Actor::home_of(&home),
        "CREATE TRIGGER x AFTER UPDATE ON session BEGIN UPDATE session SET permission = '[]'; END;",
    );
    let ended = ACTOR.goes_on_unasked(&home);
    assert!(
        ended.stdout.contains("cannot be gone on with") && ended.stdout.contains("windlass run"),
        "{}",
        ended.stdout
    );
}

fn plant(home: &Path, statements: &str) {
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()";
    let database = home.join(".local/share/opencode/opencode.db");
    let planted = Command::new("python3").args(["-c", script]).arg(database).arg(statements).status();
    assert!(planted.expect("python3 is installed").success());
}
