//! Mistakes of the user: exit code 2, what is wrong, and what to do about it; and nothing has been done.

use super::assert_shown;
use super::scripts::HELLO;
use crate::support::{Ended, Home};

/// A mistake leaves no task behind.
fn refused(home: &Home, ended: Ended) -> Ended {
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    assert_eq!(ended.stdout, "", "a refusal says nothing on standard output");
    let status = home.windlass(&["status", "--json"]).without("WINDLASS_CRASH_AT").run();
    assert_eq!(status.stdout, "", "nothing was taken in");
    assert!(home.files().is_empty(), "nothing was done");
    ended
}

fn run_refused(more: &[&str]) -> (Home, Ended) {
    let home = Home::playing(HELLO);
    let ended = refused(&home, home.run(more).run());
    (home, ended)
}

#[test]
fn no_command() {
    let home = Home::new();
    let ended = home.windlass(&[]).run();
    assert_eq!((ended.code(), ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("Usage: windlass [OPTIONS] <COMMAND>"), "{}", ended.stderr);
}

#[test]
fn an_unknown_command() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["runn", "x"]).run(), @"
    exit code 2
    --- stderr
    error: unrecognized subcommand 'runn'

      tip: a similar subcommand exists: 'run'

    Usage: windlass [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn no_goal() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["run"]).run(), @"
    exit code 2
    --- stderr
    error: the following required arguments were not provided:
      <GOAL>

    Usage: windlass run <GOAL>

    For more information, try '--help'.
    ");
}

#[test]
fn an_empty_goal() {
    let home = Home::new();
    assert_shown!(home, refused(&home, home.windlass(&["run", "  "]).run()), @r#"
    exit code 2
    --- stderr
    error: the goal is empty
    hint: say what should be done: windlass run "…"
    "#);
}

#[test]
fn no_model() {
    let home = Home::new();
    assert_shown!(home, refused(&home, home.windlass(&["run", "Do it"]).run()), @"
    exit code 2
    --- stderr
    error: no model is configured
    hint: set LITELLM_API_BASE and LITELLM_API_KEY (any OpenAI-compatible server) or ANTHROPIC_API_KEY, or play a script with --rehearsal FILE; `windlass demo` needs neither
    ");
}

#[test]
fn a_provider_without_a_model_s_name() {
    let home = Home::new();
    let run = home.windlass(&["run", "Do it"]).env("ANTHROPIC_API_KEY", "sk-ant-0123456789");
    assert_shown!(home, refused(&home, run.run()), @"
    exit code 2
    --- stderr
    error: no model is named
    hint: use --model NAME, or set ANTHROPIC_MODEL
    ");
}

#[test]
fn an_unknown_agent() {
    let (home, ended) = run_refused(&["--agent", "poet"]);
    assert_shown!(home, ended, @"
    exit code 2
    --- stderr
    error: there is no agent `poet`
    hint: `windlass agents` lists those there are
    ");
}

#[test]
fn a_script_that_is_not_there() {
    let home = Home::new();
    assert_shown!(home, refused(&home, home.run(&[]).run()), @"
    exit code 2
    --- stderr
    error: [HOME]/script.yaml: No such file or directory (os error 2)
    hint: name the file of a script; docs/rehearsals.md shows one
    ");
}

#[test]
fn a_script_with_mistakes_in_several_places() {
    let home = Home::playing(
        "version: 1\ntracks:\n  default:\n    - repl: hello\n    - reply: hi\n      repeat: never\n    - when: { last_result: '(' }\n      reply: x\n",
    );
    assert_shown!(home, refused(&home, home.run(&[]).run()), @"
    exit code 2
    --- stderr
    error: [HOME]/script.yaml:
    line 4, column 7: an entry has no field `repl`; it has `when`, `reply`, `calls`, `usage`, `error`, `delay_ms`, `repeat`
    line 4, column 7: an entry needs `reply`, `calls` or `error`
    line 6, column 15: `repeat` must be a number from 1 to 1000000, or `forever`
    line 7, column 28: not a regular expression: unclosed group
    ");
}

#[test]
fn a_script_that_is_not_yaml() {
    let home = Home::playing("version: [1\n");
    assert_shown!(home, refused(&home, home.run(&[]).run()), @"
    exit code 2
    --- stderr
    error: [HOME]/script.yaml:
    line 1, column 10: unclosed bracket '[' at line 1, column 10
    ");
}

#[test]
fn a_check_that_is_not_yaml() {
    let (home, ended) = run_refused(&["--base-case", "{command: [}"]);
    assert_shown!(home, ended, @"
    exit code 2
    --- stderr
    error: --base-case `{command: [}`:
    1:11: this is not YAML (mismatched bracket '[' closed by '}'); text with `: `, ` #`, or in braces a comma, needs quotes around it
    hint: see docs/checks.md
    ");
}

#[test]
fn checks_with_unknown_fields_and_missing_expectations() {
    let (home, ended) = run_refused(&[
        "--base-case",
        "[{comand: make test}, {run: make}, {file: ../outside}, {command: ok, timeout: -1}]",
    ]);
    assert_shown!(home, ended, @r#"
    exit code 2
    --- stderr
    error: --base-case `[{comand: make test}, {run: make}, {file: ../outside}, {command: ok, timeout: -1}]`:
    1:3: unknown field `comand`; did you mean `command`?
    1:24: `run` needs one expectation: exit_code, equals, contains, regex, output_lt, output_gt, file_exists, not_empty
    1:43: "../outside": `..` would leave the workspace; name the path from its top
    1:79: `timeout` must be a time from 1 second to 24 hours, as `90`, `90s`, `10m` or `2h`
    hint: see docs/checks.md
    "#);
}

#[test]
fn a_check_that_cannot_fail() {
    let (home, ended) = run_refused(&["--base-case", "command: 'true'"]);
    assert_shown!(home, ended, @"
    exit code 2
    --- stderr
    error: --base-case `command: 'true'`:
    1:10: this command always exits with 0, so the check cannot fail; run something that depends on the work
    hint: see docs/checks.md
    ");
}

#[test]
fn a_workspace_that_is_not_there() {
    let (home, ended) = run_refused(&["--workspace", "nowhere"]);
    assert_shown!(home, ended, @"
    exit code 2
    --- stderr
    error: --workspace nowhere: No such file or directory (os error 2)
    hint: make the folder first, or name another
    ");
}

#[test]
fn a_workspace_that_is_a_file() {
    let (home, ended) = run_refused(&["--workspace", "../script.yaml"]);
    assert_shown!(home, ended, @"
    exit code 2
    --- stderr
    error: [HOME]/script.yaml is not a folder
    hint: name a folder with --workspace
    ");
}

#[test]
fn no_sandbox_without_saying_so() {
    let (home, ended) = run_refused(&["--sandbox", "process"]);
    assert_shown!(home, ended, @"
    exit code 2
    --- stderr
    error: `--sandbox process` confines nothing: commands run as you, with your files and your network
    hint: add --no-isolation if that is what you want
    ");
}

#[test]
fn no_isolation_in_a_sandbox() {
    let (home, ended) = run_refused(&["--no-isolation"]);
    assert_shown!(home, ended, @"
    exit code 2
    --- stderr
    error: --no-isolation goes with `--sandbox process` only
    ");
}

#[test]
fn limits_that_allow_nothing() {
    let flags = ["--max-cost", "--max-attempts", "--max-iterations", "--timeout", "--max-tokens"];
    for flag in flags {
        let (_, ended) = run_refused(&[flag, "0"]);
        assert!(ended.stderr.starts_with(&format!("error: {flag} must be ")), "{}", ended.stderr);
    }
    for amount in ["nan", "inf", "1e999"] {
        let (_, ended) = run_refused(&["--max-cost", amount]);
        assert_eq!(ended.stderr, "error: --max-cost must be an amount above 0, such as 2.50\n", "{amount}");
    }
}

#[test]
fn a_limit_that_is_not_a_number() {
    let (home, ended) = run_refused(&["--max-iterations", "many"]);
    assert_shown!(home, ended, @"
    exit code 2
    --- stderr
    error: invalid value 'many' for '--max-iterations <N>': invalid digit found in string

    For more information, try '--help'.
    ");
    let home = Home::playing(HELLO);
    let run = home.run(&[]).env("AGENT_TIMEOUT_SECONDS", "soon");
    assert_shown!(home, refused(&home, run.run()), @"
    exit code 2
    --- stderr
    error: AGENT_TIMEOUT_SECONDS must be a whole number, not `soon`
    ");
}

#[test]
fn a_task_that_is_not_there() {
    let home = Home::new();
    for command in ["status", "log", "resume", "cancel"] {
        let ended = home.windlass(&[command, "0badcafe"]).run();
        assert_eq!((ended.code(), ended.stdout.as_str()), (2, ""), "{command}");
        insta::allow_duplicates! {
            assert_shown!(home, ended, @"
            exit code 2
            --- stderr
            error: there is no task `0badcafe` here
            hint: `windlass status` lists the tasks
            ");
        }
        let whole = home.windlass(&[command, "01a1deb3-743b-7086-912a-7ef9edc5aedb"]).run();
        insta::allow_duplicates! {
            assert_shown!(home, whole, @"
            exit code 2
            --- stderr
            error: there is no task [ID] here
            hint: `windlass status` lists the tasks
            ");
        }
    }
}

#[test]
fn a_log_without_tasks() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["log"]).run(), @"
    exit code 2
    --- stderr
    error: there are no tasks yet
    hint: `windlass demo` makes one
    ");
}

#[test]
fn configuration_with_mistakes() {
    let home = Home::playing(HELLO);
    std::fs::create_dir(home.data()).expect("a data directory");
    std::fs::write(home.data().join("windlass.toml"), "[sandbox]\nreadonly_mount = []\n").expect("written");
    assert_shown!(home, home.run(&[]).run(), @"
    exit code 2
    --- stderr
    error: [HOME]/data/windlass.toml:2:1: unknown field `readonly_mount` in [sandbox]; did you mean `readonly_mounts`?
    ");
    let list = "[sandbox]\nallowed_hosts = [\"*.example.com\"]\n";
    std::fs::write(home.data().join("windlass.toml"), list).expect("written");
    assert_shown!(home, home.run(&[]).run(), @r#"
    exit code 2
    --- stderr
    error: [HOME]/data/windlass.toml:2:17: "*.example.com" must not have a `*`; write .example.com
    "#);
    std::fs::write(home.data().join("windlass.toml"), "[sandbox]\nnetwork = \"restricted\"\n").expect("written");
    assert_shown!(home, home.run(&[]).run(), @r#"
    exit code 2
    --- stderr
    error: [HOME]/data/windlass.toml:2:1: [sandbox]: `network = "restricted"` reaches nothing: name hosts in `allowed_hosts`
    "#);
    std::fs::create_dir(home.path().join("services")).expect("a folder");
    let _service = std::os::unix::net::UnixListener::bind(home.path().join("services/one.sock")).expect("a socket");
    for place in [home.path().join("services"), home.path().join("services/one.sock"), "/run".into()] {
        let mounts = format!("[sandbox]\nreadonly_mounts = [{place:?}]\n");
        std::fs::write(home.data().join("windlass.toml"), mounts).expect("written");
        let refused = home.run(&[]).run().expect(2);
        assert!(refused.stderr.contains("holds a socket"), "{}", refused.stderr);
    }
    std::fs::write(home.data().join("windlass.toml"), "").expect("written");
    std::fs::write(home.data().join("models.toml"), "[models]\n\"gpt-4o\" = { input = -1 }\n").expect("written");
    assert_shown!(home, home.run(&[]).run(), @r#"
    exit code 2
    --- stderr
    error: the table of models in [HOME]/data/models.toml cannot be read; mend it:
    TOML parse error at line 2, column 22
      |
    2 | "gpt-4o" = { input = -1 }
      |                      ^^
    a price is dollars per million tokens, not negative and below a million
    "#);
}

#[test]
fn a_data_directory_that_cannot_be_one() {
    let home = Home::playing(HELLO);
    std::fs::write(home.data(), "a file").expect("written");
    assert_shown!(home, home.run(&[]).run(), @"
    exit code 2
    --- stderr
    error: the data directory [HOME]/data is not a folder
    hint: set WINDLASS_DATA_DIR to a folder
    ");
}

#[test]
fn nowhere_to_keep_anything() {
    let home = Home::playing(HELLO);
    let run = home.run(&[]).without("WINDLASS_DATA_DIR").without("HOME");
    assert_shown!(home, run.run(), @"
    exit code 2
    --- stderr
    error: no data directory
    hint: set WINDLASS_DATA_DIR
    ");
}

#[test]
fn a_crash_point_that_does_not_exist() {
    let home = Home::playing(HELLO);
    assert_shown!(home, refused(&home, home.run(&[]).env("WINDLASS_CRASH_AT", "lunch:1").run()), @"
    exit code 2
    --- stderr
    error: WINDLASS_CRASH_AT=`lunch:1` names no crash point
    ");
}

#[test]
fn a_check_that_protects_what_is_not_there() {
    let (home, ended) = run_refused(&["--base-case", "{command: sh tests/run.sh, protect: [tests/run.sh]}"]);
    assert_shown!(home, ended, @"
    exit code 2
    --- stderr
    error: `protect: [tests/run.sh]`: there is no tests/run.sh in [HOME]/workspace
    hint: protect files and folders that are there when the task begins
    ");
}

#[test]
fn a_check_with_a_zero_byte_or_with_a_network() {
    let (home, ended) = run_refused(&["--base-case", r#"{command: "make\0test", network: true}"#]);
    assert_shown!(home, ended, @r#"
    exit code 2
    --- stderr
    error: --base-case `{command: "make\0test", network: true}`:
    1:11: `command` holds a zero byte, which no command and no path can have
    1:34: `network: true` is not possible yet: checks run without a network
    hint: see docs/checks.md
    "#);
}

#[test]
fn values_that_begin_with_a_dash_are_values() {
    let home = Home::playing(HELLO);
    home.run(&["--base-case", "- command: grep -q hi hello.txt", "--constraint", "- be brief"]).run().expect(0);
    let (_, ended) = run_refused(&["--max-cost", "-1"]);
    assert_eq!(ended.stderr, "error: --max-cost must be an amount above 0, such as 2.50\n");
    let (_, ended) = run_refused(&["--max-attempts", "-1"]);
    assert!(ended.stderr.starts_with("error: invalid value '-1' for '--max-attempts <N>'"), "{}", ended.stderr);
}

#[test]
fn a_script_without_end() {
    let home = Home::new();
    let run = home.windlass(&["run", "Do it", "--rehearsal", "/dev/zero"]);
    assert_shown!(home, refused(&home, run.run()), @"
    exit code 2
    --- stderr
    error: /dev/zero: it is longer than the 16 MiB that such a file may have
    hint: name the file of a script; docs/rehearsals.md shows one
    ");
}

#[test]
fn a_model_server_that_cannot_be_asked() {
    let home = Home::new();
    let run = home.windlass(&["run", "Do it"]).env("LITELLM_API_BASE", "http://me:hunter2hunter2@localhost:4000");
    assert_shown!(home, refused(&home, run.run()), @"
    exit code 2
    --- stderr
    error: the model server's base URL holds a user name or a key, which belong in the key's own variable; write it as http://localhost:4000
    hint: look at LITELLM_API_BASE and LITELLM_API_KEY
    ");
    let run = home.windlass(&["run", "Do it", "--model", "x"]).env("ANTHROPIC_API_KEY", "a key\nof two lines");
    assert_shown!(home, refused(&home, run.run()), @"
    exit code 2
    --- stderr
    error: ANTHROPIC_API_KEY holds characters that no key has; set it again
    hint: look at ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY
    ");
}

#[test]
fn variables_that_run_something_before_every_command() {
    let home = Home::playing(HELLO);
    std::fs::create_dir(home.data()).expect("a data directory");
    std::fs::write(home.data().join("windlass.toml"), "[sandbox]\nenv = { BASH_ENV = \"/workspace/x\" }\n")
        .expect("written");
    assert_shown!(home, refused(&home, home.run(&[]).run()), @"
    exit code 2
    --- stderr
    error: [HOME]/data/windlass.toml:2:9: `env` may not set BASH_ENV: commands would first run or load what it names, checks among them
    ");
}

/// Whoever only looks, or ends a task, uses none of it.
#[test]
fn a_mistake_in_the_configuration_hides_no_task() {
    let home = Home::playing(super::scripts::THINKER);
    let mut run = home.run(&["--json"]).start();
    run.wait_for_record("model.requested");
    std::fs::write(home.data().join("windlass.toml"), "[sandbox\n").expect("written");
    std::fs::write(home.data().join("models.toml"), "models = 7\n").expect("written");
    let broken = |words: &[&str]| home.windlass(words).env("AGENT_TIMEOUT_SECONDS", "soon").run().expect(0);
    let task = broken(&["status", "--json"]).objects()[0]["task_id"].as_str().expect("an id").to_owned();
    broken(&["log"]);
    broken(&["cancel", &task]);
    run.end().expect(4);
}
