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
    assert!(ended.stderr.contains("Usage: windlass <COMMAND>"), "{}", ended.stderr);
}

#[test]
fn an_unknown_command() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["runn", "x"]).run(), @"");
}

#[test]
fn no_goal() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["run"]).run(), @"");
}

#[test]
fn an_empty_goal() {
    let home = Home::new();
    assert_shown!(home, refused(&home, home.windlass(&["run", "  "]).run()), @"");
}

#[test]
fn no_model() {
    let home = Home::new();
    assert_shown!(home, refused(&home, home.windlass(&["run", "Do it"]).run()), @"");
}

#[test]
fn a_provider_without_a_model_s_name() {
    let home = Home::new();
    let run = home.windlass(&["run", "Do it"]).env("ANTHROPIC_API_KEY", "sk-ant-0123456789");
    assert_shown!(home, refused(&home, run.run()), @"");
}

#[test]
fn an_unknown_agent() {
    let (home, ended) = run_refused(&["--agent", "poet"]);
    assert_shown!(home, ended, @"");
}

#[test]
fn a_script_that_is_not_there() {
    let home = Home::new();
    assert_shown!(home, refused(&home, home.run(&[]).run()), @"");
}

#[test]
fn a_script_with_mistakes_in_several_places() {
    let home = Home::playing(
        "version: 1\ntracks:\n  default:\n    - repl: hello\n    - reply: hi\n      repeat: never\n    - when: { last_result: '(' }\n      reply: x\n",
    );
    assert_shown!(home, refused(&home, home.run(&[]).run()), @"");
}

#[test]
fn a_script_that_is_not_yaml() {
    let home = Home::playing("version: [1\n");
    assert_shown!(home, refused(&home, home.run(&[]).run()), @"");
}

#[test]
fn a_check_that_is_not_yaml() {
    let (home, ended) = run_refused(&["--base-case", "{command: [}"]);
    assert_shown!(home, ended, @"");
}

#[test]
fn checks_with_unknown_fields_and_missing_expectations() {
    let (home, ended) =
        run_refused(&["--base-case", "[{comand: make test}, {run: make}, {file: ../outside}, {command: ok, timeout: -1}]"]);
    assert_shown!(home, ended, @"");
}

#[test]
fn a_check_that_cannot_fail() {
    let (home, ended) = run_refused(&["--base-case", "command: 'true'"]);
    assert_shown!(home, ended, @"");
}

#[test]
fn a_workspace_that_is_not_there() {
    let (home, ended) = run_refused(&["--workspace", "nowhere"]);
    assert_shown!(home, ended, @"");
}

#[test]
fn a_workspace_that_is_a_file() {
    let (home, ended) = run_refused(&["--workspace", "../script.yaml"]);
    assert_shown!(home, ended, @"");
}

#[test]
fn no_sandbox_without_saying_so() {
    let (home, ended) = run_refused(&["--sandbox", "process"]);
    assert_shown!(home, ended, @"");
}

#[test]
fn no_isolation_in_a_sandbox() {
    let (home, ended) = run_refused(&["--no-isolation"]);
    assert_shown!(home, ended, @"");
}

#[test]
fn limits_that_allow_nothing() {
    let (home, ended) = run_refused(&["--max-cost", "0"]);
    assert_shown!(home, ended, @"");
    let (home, ended) = run_refused(&["--max-cost", "nan"]);
    assert_shown!(home, ended, @"");
    let (home, ended) = run_refused(&["--max-attempts", "0"]);
    assert_shown!(home, ended, @"");
    let (home, ended) = run_refused(&["--max-iterations", "0"]);
    assert_shown!(home, ended, @"");
    let (home, ended) = run_refused(&["--timeout", "0"]);
    assert_shown!(home, ended, @"");
    let (home, ended) = run_refused(&["--max-tokens", "0"]);
    assert_shown!(home, ended, @"");
}

#[test]
fn a_limit_that_is_not_a_number() {
    let (home, ended) = run_refused(&["--max-iterations", "many"]);
    assert_shown!(home, ended, @"");
    let home = Home::playing(HELLO);
    let run = home.run(&[]).env("AGENT_TIMEOUT_SECONDS", "soon");
    assert_shown!(home, refused(&home, run.run()), @"");
}

#[test]
fn a_task_that_is_not_there() {
    let home = Home::new();
    for command in ["status", "log", "resume", "cancel"] {
        let ended = home.windlass(&[command, "0badcafe"]).run();
        assert_eq!((ended.code(), ended.stdout.as_str()), (2, ""), "{command}");
        insta::allow_duplicates! {
            assert_shown!(home, ended, @"");
        }
        let whole = home.windlass(&[command, "01a1deb3-743b-7086-912a-7ef9edc5aedb"]).run();
        insta::allow_duplicates! {
            assert_shown!(home, whole, @"");
        }
    }
}

#[test]
fn a_log_without_tasks() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["log"]).run(), @"");
}

#[test]
fn configuration_with_mistakes() {
    let home = Home::playing(HELLO);
    std::fs::create_dir(home.data()).expect("a data directory");
    std::fs::write(home.data().join("windlass.toml"), "[sandbox]\nreadonly_mount = []\n").expect("written");
    assert_shown!(home, home.run(&[]).run(), @"");
    std::fs::write(home.data().join("windlass.toml"), "").expect("written");
    std::fs::write(home.data().join("models.toml"), "[models]\n\"gpt-4o\" = { input = -1 }\n").expect("written");
    assert_shown!(home, home.run(&[]).run(), @"");
}

#[test]
fn a_data_directory_that_cannot_be_one() {
    let home = Home::playing(HELLO);
    std::fs::write(home.data(), "a file").expect("written");
    assert_shown!(home, home.run(&[]).run(), @"");
}

#[test]
fn nowhere_to_keep_anything() {
    let home = Home::playing(HELLO);
    let run = home.run(&[]).without("WINDLASS_DATA_DIR").without("HOME");
    assert_shown!(home, run.run(), @"");
}

#[test]
fn a_crash_point_that_does_not_exist() {
    let home = Home::playing(HELLO);
    assert_shown!(home, refused(&home, home.run(&[]).env("WINDLASS_CRASH_AT", "lunch:1").run()), @"");
}
