//! `bash` over a scripted sandbox: what is run, and how each ending is told.

use std::io;
use std::path::Path;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;
use windlass_domain::{CallStatus, Canceller, Effect, Stop};
use windlass_sandbox::{Error, Status, Stdin, Streams};

use crate::support::{Bench, exit};

fn ended(status: Status, output: &str) -> (CallStatus, String) {
    let bench = Bench::new();
    bench.sandbox.answer(Ok(exit(status, output)));
    let ran = bench.call("bash", &json!({ "command": "make", "timeout_seconds": 7 }));
    (ran.status, ran.content)
}

#[test]
fn every_ending_is_told_in_words_with_the_output() {
    let check = |status, expected: CallStatus, words: &str| {
        let (status, content) = ended(status, "some output\n");
        assert_eq!((status, content), (expected, format!("{words}\n\nsome output\n")));
    };
    check(Status::Code(0), CallStatus::Ok, "Exit code: 0");
    check(Status::Code(2), CallStatus::Error, "Exit code: 2");
    check(Status::Signal(11), CallStatus::Error, "Killed by signal 11 (segmentation fault).");
    check(Status::Signal(63), CallStatus::Error, "Killed by signal 63.");
    check(
        Status::TimedOut,
        CallStatus::TimedOut,
        "Timed out after 7 seconds; the command and everything it started were killed. Give it a larger \
         timeout_seconds (at most 3600) or a smaller task.",
    );
    check(
        Status::Cancelled,
        CallStatus::Cancelled,
        "Stopped before it finished; the command and everything it started were killed.",
    );
    check(
        Status::OutOfMemory,
        CallStatus::Error,
        "Killed: the sandbox ran out of memory. Use less memory or fewer parallel jobs.",
    );
    check(
        Status::TooManyProcesses,
        CallStatus::Error,
        "Killed: the sandbox ran out of processes. Start fewer at a time.",
    );
    assert_snapshot!(ended(Status::Code(0), "").1, @r"
    Exit code: 0
    (no output)
    ");
}

#[test]
fn a_pause_leaves_a_call_interrupted_and_not_cancelled() {
    let bench = Bench::new();
    let canceller = Canceller::default();
    canceller.stop(Stop::Pause);
    bench.sandbox.answer(Ok(exit(Status::Cancelled, "")));
    let arguments = json!({ "command": "sleep 100" });
    let ran = bench.run_until("bash", &arguments, Effect::Once, canceller.signal(), &mut |_| {});
    assert_eq!(ran.status, CallStatus::Interrupted);
}

#[test]
fn the_command_is_run_as_it_was_written() {
    let bench = Bench::new();
    bench.put("sub/a", "");
    bench.sandbox.answer(Ok(exit(Status::Code(0), "")));
    bench.sandbox.answer(Ok(exit(Status::Code(0), "")));
    let text = "echo \"$HOME\"; rm -rf ' a'\n";
    bench.ok("bash", &json!({ "command": text }));
    bench.ok("bash", &json!({ "command": text, "cwd": "/workspace/sub", "timeout_seconds": 5 }));
    let commands = bench.sandbox.commands.lock().unwrap();
    assert_eq!(commands[0].argv, ["bash", "-c", text]);
    assert_eq!((commands[0].cwd.as_path(), commands[0].timeout), (Path::new(""), Duration::from_secs(120)));
    assert_eq!((commands[1].cwd.as_path(), commands[1].timeout), (Path::new("sub"), Duration::from_secs(5)));
    assert_eq!((&commands[0].stdin, commands[0].streams), (&Stdin::Closed, Streams::Together));
}

#[test]
fn sh_serves_where_there_is_no_bash() {
    let bench = Bench::new();
    let missing = || Error::NotStarted { program: "bash".into(), source: io::Error::from(io::ErrorKind::NotFound) };
    bench.sandbox.answer(Err(missing()));
    bench.sandbox.answer(Ok(exit(Status::Code(0), "from sh")));
    assert_eq!(bench.ok("bash", &json!({ "command": "true" })), "Exit code: 0\n\nfrom sh");
    let programs: Vec<_> =
        bench.sandbox.commands.lock().unwrap().iter().map(|command| command.argv[0].clone()).collect();
    assert_eq!(programs, ["bash", "sh"]);
    bench.sandbox.answer(Err(missing()));
    bench.sandbox.answer(Err(missing()));
    assert!(bench.error("bash", &json!({ "command": "true" })).starts_with("Error: failed to start bash"));
}

#[test]
fn a_command_that_started_is_never_run_a_second_time() {
    let bench = Bench::new();
    bench.sandbox.answer(Err(Error::Died { detail: "the supervisor is gone".into() }));
    bench.sandbox.answer(Ok(exit(Status::Code(0), "")));
    let ran = bench.call("bash", &json!({ "command": "true" }));
    assert_eq!(ran.status, CallStatus::Interrupted);
    assert!(ran.content.ends_with("Whether the command took effect is not known"), "{}", ran.content);
    assert_eq!(bench.sandbox.commands.lock().unwrap().len(), 1);
    assert_eq!(bench.prepare("bash", &json!({ "command": "true" })), Ok(Effect::Once));
}

#[test]
fn a_folder_that_is_none_is_refused_before_anything_runs() {
    let bench = Bench::new();
    bench.put("file", "");
    let told = |cwd: &str| bench.error("bash", &json!({ "command": "true", "cwd": cwd }));
    assert_snapshot!(told("missing"), @"Error: `cwd`: missing: no such file or folder");
    assert_snapshot!(told("file"), @"Error: `cwd`: file is not a folder");
    assert_snapshot!(told("/etc"), @"Error: /etc: leads outside the workspace; use a path below /workspace");
    assert_snapshot!(told("../"), @"Error: `cwd`: ..: leads outside the workspace; use a path below /workspace");
    assert!(bench.sandbox.commands.lock().unwrap().is_empty());
}

#[test]
fn output_is_seen_as_it_comes_with_characters_whole() {
    let bench = Bench::new();
    bench.sandbox.answer(Ok(exit(Status::Code(0), "a🦀é\u{fffd}")));
    let mut pieces = Vec::new();
    let arguments = json!({ "command": "true" });
    let mut watch = |text: &str| pieces.push(text.to_owned());
    bench.run_until("bash", &arguments, Effect::Once, windlass_domain::CancelSignal::never(), &mut watch);
    assert_eq!(pieces, ["a", "🦀", "é", "\u{fffd}"]);
}
