//! Standard output that nobody reads, that cannot be written, or whose reader has gone. None of them holds up the work,
//! its limits, Ctrl-C or `windlass cancel`.

use std::fs::File;

use super::scripts::HELLO;
use crate::support::{Ended, Home, Ledger, Running, none_left, read};
use rustix::process::Signal;

/// Says more than a pipe holds, and then begins a command that would take hours.
fn loud() -> Home {
    let much = "so much to say ".repeat(20_000);
    Home::playing(&format!(
        r#"
version: 1
tracks:
  default:
    - reply: "{much}"
      calls: [ {{ tool: bash, args: {{ command: "echo begun > ledger; sleep 10000", timeout_seconds: 3600 }} }} ]
      usage: {{ input: 900, output: 40 }}
    - reply: Done without it.
      usage: {{ input: 900, output: 10 }}
"#
    ))
}

fn begun(home: &Home, more: &[&str]) -> Running {
    let mut ledger = Ledger::open(home);
    let run = home.run(more).start();
    ledger.wait_for("begun");
    run
}

fn wait_until(home: &Home, standing: &str) -> String {
    loop {
        let task = home.windlass(&["status", "--json"]).run().expect(0).objects().remove(0);
        if task["standing"] == standing {
            return task["task_id"].as_str().expect("an id").to_owned();
        }
    }
}

/// With the work over, one Ctrl-C leaves a reader that does not read.
fn leaves(run: Running, code: i32) {
    run.signal(Signal::INT);
    let ended = run.end_unread().expect(code);
    assert!(ended.stderr.starts_with("error: nobody reads standard output: the last "), "{}", ended.stderr);
}

/// Regression: a full pipe held up everything, and only `kill -9` helped.
#[test]
fn ctrl_c_pauses_and_leaves_while_nobody_reads() {
    for more in [["--json"].as_slice(), &[]] {
        let home = loud();
        let run = begun(&home, more);
        run.signal(Signal::INT);
        wait_until(&home, "paused");
        leaves(run, 5);
        none_left(&home);
        home.windlass(&["resume"]).run().expect(0);
    }
}

#[test]
fn two_at_once_leave_at_once_while_nobody_reads() {
    let home = loud();
    let run = begun(&home, &["--json"]);
    run.signal(Signal::INT);
    run.signal(Signal::TERM);
    run.end_unread().expect(5);
    none_left(&home);
}

#[test]
fn a_limit_ends_the_work_while_nobody_reads() {
    let home = loud();
    let run = begun(&home, &["--json", "--timeout", "1"]);
    wait_until(&home, "failed");
    leaves(run, 1);
}

#[test]
fn another_terminal_cancels_while_nobody_reads() {
    let home = loud();
    let run = begun(&home, &["--json"]);
    let task = wait_until(&home, "running");
    home.windlass(&["cancel", &task]).run().expect(0);
    leaves(run, 4);
}

#[test]
fn a_reader_that_comes_late_gets_every_record() {
    let home = loud();
    let run = begun(&home, &["--json"]);
    run.signal(Signal::INT);
    wait_until(&home, "paused");
    let records = run.end().expect(5).objects();
    let kept = read(&home).records;
    assert_eq!(records.len(), kept.len() + 1, "and the result");
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let home = Home::playing(HELLO);
    let script = home.script();
    let run = ["run", "Do it", "--rehearsal", script.to_str().expect("a plain path")];
    let full = || File::options().write(true).open("/dev/full").expect("/dev/full");
    let with_json = [run.as_slice(), &["--json"]].concat();
    for words in [run.as_slice(), &with_json, &["status"], &["log"], &["log", "--json"], &["doctor"], &["--help"]] {
        let ended = home.windlass(words).saying_into(full()).run().expect(1);
        assert_eq!(
            ended.stderr, "error: standard output cannot be written: No space left on device (os error 28)\n",
            "{words:?}"
        );
    }
    assert_eq!(home.read("hello.txt"), "hi\n", "the work was done all the same");
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let home = Home::playing(HELLO);
    let gone = || {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        writer
    };
    let quiet = |ended: Ended| assert_eq!(ended.expect(0).stderr, "");
    quiet(home.run(&["--json"]).saying_into(gone()).run());
    quiet(home.run(&[]).saying_into(gone()).run());
    for words in [["log"].as_slice(), &["status"], &["doctor"], &["--help"]] {
        quiet(home.windlass(words).saying_into(gone()).run());
    }
}
