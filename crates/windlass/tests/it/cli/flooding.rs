//! A program that never stops talking, and says nothing: whatever else there is to do is done all the same.

use super::stand_in::{begin, windlass, with};
use crate::support::{Home, none_left, read};
use rustix::process::Signal;

/// What says nothing is there whenever somebody looks, and what the program asks its model pays for it.
const TALKS: &str = r#"introduce()
import subprocess, time
subprocess.Popen(["yes", '{"type":"x"}'])
asked = ask()
open("begun", "w").close()
while True:
    time.sleep(0.1)
    ask_model("More?")"#;

fn home() -> Home {
    let home = with(TALKS);
    std::fs::write(home.script(), "version: 1\ntracks: { default: [ { reply: On., repeat: forever } ] }\n")
        .expect("written");
    home
}

/// Regression: nothing else was looked at for as long as there was something to read, not even Ctrl-C.
#[test]
fn who_wants_it_stopped_is_heard() {
    let home = home();
    let mut running = begin(&home);
    running.wait_for_record("exchange.closed");
    running.signal(Signal::INT);
    running.end().expect(5);
    none_left(&home);
}

/// From another process.
#[test]
fn who_wants_it_cancelled_is_heard() {
    let home = home();
    let mut running = begin(&home);
    let task = running.wait_for_record("task.created")["task_id"].as_str().expect("an id").to_owned();
    running.wait_for_record("exchange.closed");
    windlass(&home, &["cancel", &task]).run().expect(0);
    running.end().expect(4);
    none_left(&home);
}

#[test]
fn its_time_runs_out() {
    let home = home();
    let words = ["--agent", "claude-code", "--timeout", "5", "--max-attempts", "1"];
    let folder = home.path().join("agents");
    let ended = home.run(&words).env("WINDLASS_AGENTS", folder.to_str().expect("a plain path")).run().expect(1);
    assert!(ended.stdout.contains("the time limit is reached"), "{}", ended.stdout);
    assert!(read(&home).once_in_flight().is_empty());
    none_left(&home);
}

#[test]
fn a_test_of_it_is_over_in_time() {
    let home = with("introduce()\nos.execvp('yes', ['yes', '{\"type\":\"x\"}'])");
    let ended = windlass(&home, &["agent", "test", "claude-code", "--timeout", "5"]).run().expect(1);
    assert!(ended.stdout.contains("✘ structured  it did not answer in time"), "{}", ended.stdout);
}
