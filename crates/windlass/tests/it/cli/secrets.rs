//! Keys never reach the screen, the journal, the trace or any file of the data directory, whoever says them.

use std::collections::BTreeMap;

use super::served::{serve, through_anthropic, through_openai};
use crate::support::{Home, Program, collect};

/// Neither is in the script's file, which stands outside of what is searched.
const KEY: &str = "quite-secret-0123456789-key";
const TOKEN: &str = "another/secret+with=signs&more";
/// In a variable whose name says so in its middle, and in an address.
const PASSPHRASE: &str = "the database opens with this";
const PASSWORD: &str = "in-the-address-9876";
const SECRETS: [&str; 4] = [KEY, TOKEN, PASSPHRASE, PASSWORD];

/// A model that knows the secrets says them in its text, in arguments and through a command's output.
fn indiscreet() -> String {
    format!(
        r#"
version: 1
tracks:
  default:
    - reply: "The key is {KEY} and the token is {TOKEN}; {PASSPHRASE}, or {PASSWORD}."
      calls:
        - {{ tool: bash, args: {{ command: "printf '%s-%s\n' quite-secret 0123456789-key; echo '{TOKEN}'; printf %s '{TOKEN}' | base64" }} }}
        - {{ tool: bash, args: {{ command: "echo {KEY} >&2; exit 1" }} }}
        - {{ tool: conjure, args: {{ key: "{KEY}" }} }}
        - {{ tool: read, args: {{ path: "{KEY}" }} }}
      usage: {{ input: 900, output: 40 }}
    - reply: "Once more: {KEY}"
      usage: {{ input: 900, output: 10 }}
"#
    )
}

fn keeps_secrets(through: fn(Program, &str, &str) -> Program) {
    let home = Home::playing(&indiscreet());
    let (_server, url) = serve(&home);
    let goal = format!("Use {KEY} well");
    let database = format!("postgres://me:{PASSWORD}@db/x");
    let program = |words: &[&str]| {
        let program = through(home.windlass(words), &url, KEY).env("DEPLOY_TOKEN", TOKEN);
        program.env("MY_DB_PASS_2", PASSPHRASE).env("DATABASE_URL", &database).env("WINDLASS_LOG", "debug")
    };
    let said = [
        program(&["run", &goal, "--json"]).run().expect(0),
        program(&["run", &goal]).run().expect(0),
        program(&["log"]).run().expect(0),
        program(&["log", "--json"]).run().expect(0),
        program(&["status"]).run().expect(0),
        program(&["status", "--json"]).run().expect(0),
        program(&["doctor"]).run().expect(0),
    ];
    assert!(said[0].stderr.contains("Tool failed"), "the log is looked at: {}", said[0].stderr);
    for ended in &said {
        for secret in SECRETS {
            assert!(!ended.stdout.contains(secret) && !ended.stderr.contains(secret), "{ended:?}");
        }
    }
    let mut files = BTreeMap::new();
    collect(&home.data(), &home.data(), &mut files);
    assert!(files.keys().any(|name| name.ends_with("windlass.db")), "the database is looked at");
    assert!(files.keys().any(|name| name.starts_with("traces/")), "the trace is looked at");
    for (name, bytes) in &files {
        for secret in SECRETS {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{name} holds a secret");
        }
    }
    // The search would find what is there.
    let goal = b"Use ";
    assert!(files.values().any(|bytes| bytes.windows(goal.len()).any(|window| window == goal)));
}

#[test]
fn keys_stay_out_of_everything_through_openai() {
    keeps_secrets(through_openai);
}

#[test]
fn keys_stay_out_of_everything_through_anthropic() {
    keeps_secrets(through_anthropic);
}

/// What an operator gives a server's program is in `windlass.toml`, and in no other place.
#[test]
fn what_a_server_is_given_is_kept_as_well() {
    const GIVEN: &str = "given-to-a-server-4711";
    let script =
        format!("version: 1\ntracks:\n  default:\n    - {{reply: 'It is {GIVEN}.', usage: {{input: 1, output: 1}}}}\n");
    let home = Home::playing(&script);
    std::fs::create_dir_all(home.data()).expect("a data directory");
    let config = format!("[mcp.servers.x]\ncommand = [\"true\"]\nenv = {{ API_TOKEN = \"{GIVEN}\" }}\n");
    std::fs::write(home.data().join("windlass.toml"), config).expect("written");
    let ended = home.run(&[]).run().expect(0);
    let log = home.windlass(&["log"]).run().expect(0);
    for shown in [ended.stdout, log.stdout] {
        assert!(shown.contains("It is [REDACTED]") && !shown.contains(GIVEN), "{shown}");
    }
}
