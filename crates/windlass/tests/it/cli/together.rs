//! Several processes at once: on one task never, on one data directory always.

use super::assert_shown;
use super::scripts::{HELLO, SLEEPER};
use crate::support::{Home, Ledger, Running, none_left};
use rustix::process::Signal;

#[test]
fn a_task_that_somebody_works_on_is_not_taken_over() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let run = home.run(&[]).start();
    ledger.wait_for("begun");
    assert_shown!(home, home.windlass(&["resume"]).run(), @"
    exit code 2
    --- stderr
    error: task [ID] is being worked on by process [PID] on [HOST]
    hint: watch it with `windlass log [SHORT]`, or stop it with `windlass stop [SHORT]`
    ");
    run.signal(Signal::INT);
    run.end().expect(5);
    assert_eq!(ledger.count().into_iter().collect::<Vec<_>>(), [("begun".to_owned(), 1)]);
}

#[test]
fn of_many_resumes_exactly_one_gets_the_task() {
    let home = Home::playing(
        r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "echo effect > ledger" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 900, output: 10 }
"#,
    );
    let mut ledger = Ledger::open(&home);
    assert!(home.run(&[]).env("WINDLASS_CRASH_AT", "before-record:1").run().was_killed());
    let resumes: Vec<Running> = (0..4).map(|_| home.windlass(&["resume"]).start()).collect();
    let codes: Vec<Option<i32>> = resumes.into_iter().map(|resume| resume.end().status.code()).collect();
    // One that came when all was done says so, and is no failure either.
    assert!(codes.contains(&Some(0)), "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 2))), "{codes:?}");
    assert_eq!(ledger.count().into_iter().collect::<Vec<_>>(), [("effect".to_owned(), 1)]);
    none_left(&home);
}

#[test]
fn several_runs_share_a_data_directory() {
    const RUNS: usize = 6;
    let home = Home::playing(HELLO);
    let folders: Vec<String> = (0..RUNS).map(|number| format!("folder-{number}")).collect();
    folders.iter().for_each(|folder| home.write(&format!("{folder}/notes.txt"), ""));
    let start = |folder: &String| home.run(&["--workspace", folder, "--base-case", "file: hello.txt"]).start();
    let runs: Vec<Running> = folders.iter().map(start).collect();
    runs.into_iter().for_each(|run| drop(run.end().expect(0)));
    for folder in &folders {
        assert_eq!(home.read(&format!("{folder}/hello.txt")), "hi\n");
    }
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    assert_eq!(tasks.len(), RUNS);
    assert!(tasks.iter().all(|task| task["result"]["verified"] == true));
    none_left(&home);
}
