//! Limits: each ends the task with exit code 1 and says which it was.

use super::assert_shown;
use super::scripts::{RESTLESS, SLEEPER, THINKER};
use crate::support::{Home, Ledger, none_left};

fn restless() -> Home {
    let home = Home::playing(RESTLESS);
    home.write("notes.txt", "alpha\n");
    home
}

#[test]
fn iterations() {
    let home = restless();
    assert_shown!(home, home.run(&["--max-iterations", "2"]).run(), @"
    exit code 1
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ Once more.
    ▸ read notes.txt  1 line · [TIME]

    │ Once more.
    ▸ read notes.txt  1 line · [TIME]

    FAILED  2 model calls · 2 tool calls · 2,000 tokens · $0.0000 · [TIME]
    error: the iteration limit is reached
    hint: raise it with --max-iterations
    ");
}

#[test]
fn iterations_by_environment_and_the_flag_wins() {
    let home = restless();
    let by_environment = home.run(&["--json"]).env("AGENT_MAX_ITERATIONS", "3").run().expect(1);
    assert_eq!(by_environment.result()["usage"]["iterations"], 3);
    let by_flag = home.run(&["--json", "--max-iterations", "2"]).env("AGENT_MAX_ITERATIONS", "3").run().expect(1);
    assert_eq!(by_flag.result()["usage"]["iterations"], 2);
}

#[test]
fn tokens() {
    let home = restless();
    assert_shown!(home, home.run(&["--max-tokens", "2500"]).run(), @"
    exit code 1
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ Once more.
    ▸ read notes.txt  1 line · [TIME]

    │ Once more.
    ▸ read notes.txt  1 line · [TIME]

    │ Once more.
    ▸ read notes.txt  the token budget is spent · [TIME]

    FAILED  3 model calls · 3 tool calls · 3,000 tokens · $0.0000 · [TIME]
    error: the token budget is spent
    hint: raise it with --max-tokens
    ");
}

#[test]
fn money() {
    let home = restless();
    std::fs::create_dir(home.data()).expect("a data directory");
    let prices = "[models]\n\"rehearsal\" = { context_window = 200_000, input = 100.0, output = 100.0 }\n";
    std::fs::write(home.data().join("models.toml"), prices).expect("prices");
    assert_shown!(home, home.run(&["--max-cost", "0.25"]).run(), @"
    exit code 1
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ Once more.
    ▸ read notes.txt  1 line · [TIME]

    │ Once more.
    ▸ read notes.txt  1 line · [TIME]

    │ Once more.
    ▸ read notes.txt  the money budget is spent · [TIME]

    FAILED  3 model calls · 3 tool calls · 3,000 tokens · $0.3000 · [TIME]
    error: the money budget is spent
    hint: raise it with --max-cost
    ");
}

#[test]
fn time_while_a_command_runs() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    assert_shown!(home, home.run(&["--timeout", "1"]).run(), @"
    exit code 1
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ This takes long.
    ◌ bash trap '' TERM; echo begun > ledger; sleep 10000 & sleep 10000; echo ended > ledger  Stopped before it finished; the command and everything it started were killed. · (no output) · [TIME]

    FAILED  1 model call · 1 tool call · 940 tokens · $0.0000 · [TIME]
    error: the time limit is reached
    hint: raise it with --timeout
    ");
    assert_eq!(ledger.count().into_keys().collect::<Vec<_>>(), ["begun"]);
    none_left(&home);
}

#[test]
fn time_while_the_model_thinks() {
    let home = Home::playing(THINKER);
    assert_shown!(home, home.run(&["--timeout", "1"]).run(), tokens aside, @"
    exit code 1
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    FAILED  1 model call · 0 tool calls · [TOKENS] tokens · $0.0000 · [TIME]
    error: the time limit is reached
    hint: raise it with --timeout
    ");
    none_left(&home);
}

/// What a command may use is bounded, also where nobody has said so.
#[test]
fn of_the_sandbox() {
    const ASKER: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "echo cpu $(ulimit -t) files $(ulimit -n)" } } ]
    - reply: Done.
"#;
    let asked = |home: &Home| {
        let ended = home.run(&["--json"]).run().expect(0);
        let finished = ended.objects().into_iter().find(|object| object["type"] == "tool.finished").expect("a result");
        finished["data"]["content"].as_str().expect("text").to_owned()
    };
    let home = Home::playing(ASKER);
    assert!(asked(&home).contains("cpu 14400 files 4096"), "{}", asked(&home));
    let limits = "[sandbox.limits]\ncpu_seconds = 7\nopen_files = 99\n";
    std::fs::write(home.data().join("windlass.toml"), limits).expect("written");
    assert!(asked(&home).contains("cpu 7 files 99"), "{}", asked(&home));
    std::fs::write(home.data().join("windlass.toml"), "[sandbox.limits]\nprocesses = 0\n").expect("written");
    let ended = home.run(&[]).run().expect(2);
    assert!(ended.stderr.contains("[sandbox.limits]: processes must be between 16 and"), "{}", ended.stderr);
}
