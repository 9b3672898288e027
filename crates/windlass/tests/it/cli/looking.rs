//! `windlass status` and `windlass log`, and the ways to name a task.

use std::fs;

use super::assert_shown;
use super::cards::{approve, asked};
use super::scripts::{HELLO, RESTLESS, SLEEPER};
use crate::support::{Home, Ledger, none_left, read};
use rustix::process::Signal;

#[test]
fn without_tasks_the_demo_is_pointed_at() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["status"]).run(), @"
    exit code 0
    --- stdout
    No tasks yet.  `windlass demo` shows one.
    ");
}

#[test]
fn every_state_has_its_word() {
    let home = Home::playing(HELLO);
    let mut ledger = Ledger::open(&home);
    home.run(&[]).run().expect(0);
    home.run(&["--base-case", "file: hello.txt"]).run().expect(0);
    home.run(&["--base-case", "file: never.txt", "--max-attempts", "1"]).run().expect(1);
    std::fs::write(home.script(), SLEEPER).expect("another script");
    let begin = |ledger: &mut Ledger| {
        let run = home.run(&[]).start();
        ledger.wait_for("begun");
        ledger.forget();
        run
    };
    let cancelled = begin(&mut ledger);
    home.windlass(&["cancel", &newest(&home)]).run().expect(0);
    cancelled.end().expect(4);
    let paused = begin(&mut ledger);
    paused.signal(Signal::INT);
    paused.end().expect(5);
    let killed = begin(&mut ledger);
    killed.signal(Signal::KILL);
    assert!(killed.end().was_killed());
    none_left(&home);
    let running = begin(&mut ledger);
    assert_shown!(home, home.windlass(&["status"]).run(), @"
    exit code 0
    --- stdout
    [SHORT]  running [TIME] ago  Do it
    [SHORT]  interrupted [TIME] ago  Do it
    [SHORT]  paused [TIME] ago  Do it
    [SHORT]  cancelled [TIME] ago  Do it
    [SHORT]  failed [TIME] ago  Do it
    [SHORT]  verified [TIME] ago  Do it
    [SHORT]  completed [TIME] ago  Do it
    ");
    running.signal(Signal::INT);
    running.end().expect(5);
}

#[test]
fn one_task_is_shown_with_its_result() {
    let home = Home::playing(RESTLESS);
    home.write("notes.txt", "");
    home.run(&["--max-iterations", "1"]).run().expect(1);
    assert_shown!(home, home.windlass(&["status", &newest(&home)]).run(), @"
    exit code 0
    --- stdout
    [SHORT]  failed [TIME] ago  Do it

    FAILED  1 model call · 1 tool call · 1,000 tokens · $0.0000 · [TIME]
    error: the iteration limit is reached
    hint: raise it with --max-iterations
    ");
}

#[test]
fn a_task_that_is_not_over_is_told_as_json_without_a_result() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let run = home.run(&[]).start();
    ledger.wait_for("begun");
    let task = home.windlass(&["status", "--json"]).run().expect(0).objects().remove(0);
    assert_eq!((&task["type"], &task["standing"]), (&"task".into(), &"running".into()));
    assert_eq!((&task["goal"], &task["attempts"]), (&"Do it".into(), &1.into()));
    assert_eq!(task["result"], serde_json::Value::Null);
    run.signal(Signal::INT);
    run.end().expect(5);
}

#[test]
fn the_log_tells_the_story_with_its_times() {
    let home = Home::playing(HELLO);
    home.run(&["--base-case", "file: hello.txt"]).run().expect(0);
    assert_shown!(home, home.windlass(&["log"]).run(), @"
    exit code 0
    --- stdout
    [CLOCK]  Do it
    [CLOCK]  task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    [CLOCK]
    [CLOCK]  │ I will write the file.
    [CLOCK]  ▸ write hello.txt  Created (3 bytes). · [TIME]
    [CLOCK]  ✔ check `hello.txt exists` passed
    [CLOCK]
    [CLOCK]  │ Done.
    [CLOCK]
    [CLOCK]  COMPLETED, verified  2 model calls · 1 tool call · 1,950 tokens · $0.0000 · [TIME]
    ");
}

#[test]
fn a_task_is_named_by_its_end_its_beginning_or_in_full() {
    let home = Home::playing(HELLO);
    home.run(&[]).run().expect(0);
    let id = newest(&home);
    let shown = home.windlass(&["status"]).run().expect(0).stdout;
    assert!(shown.starts_with(&id[28..]), "what is shown is the end: {shown}");
    for named in
        [id.as_str(), &id[28..], &id[..8], &id[30..], &id[28..32], &id.to_uppercase(), &id[28..].to_uppercase()]
    {
        home.windlass(&["log", named]).run().expect(0);
    }
    for named in ["", "0", "-", &id[9..13]] {
        let ended = home.windlass(&["log", named]).run();
        assert_eq!(ended.code(), if id.starts_with(named) && !named.is_empty() { 0 } else { 2 }, "{named}: {ended:?}");
    }
}

#[test]
fn a_name_that_fits_several_tasks_lists_them() {
    let home = Home::playing(HELLO);
    home.run(&[]).run().expect(0);
    home.run(&[]).run().expect(0);
    assert_shown!(home, home.windlass(&["log", "0"]).run(), @"
    exit code 2
    --- stderr
    error: `0` may be any of these:
      [ID]
      [ID]
    hint: give more of the id
    ");
}

fn newest(home: &Home) -> String {
    read(home).records[0]["task_id"].as_str().expect("the first record is the task's").to_owned()
}

#[test]
fn what_is_told_asked_and_recorded_can_be_looked_at_apart() {
    let home = asked();
    approve(&home);
    home.windlass(&["resume"]).run().expect(0);
    let log = |surface: &str| home.windlass(&["log", "--surface", surface]).run().expect(0).stdout;
    let asked = ["high risk: it runs rm", "needs approval: card", "waiting for an answer"];
    let (stream, review, activity, all) = (log("stream"), log("review"), log("activity"), log("all"));
    for words in asked {
        assert!(review.contains(words) && !stream.contains(words) && !activity.contains(words), "{words}:\n{review}");
        assert!(all.lines().any(|line| line.contains("  review  ") && line.contains(words)), "{words}:\n{all}");
    }
    assert!(stream.contains("COMPLETED") && !review.contains("COMPLETED") && !activity.contains("COMPLETED"));
    assert!(activity.contains("▸ bash rm old.txt; echo gone") && !review.contains('▸'), "{activity}");
    assert_eq!(stream.lines().count() + review.lines().count() + activity.lines().count(), all.lines().count());
    let mut records = home.windlass(&["log", "--surface", "all", "--json"]).run().expect(0).objects();
    assert_eq!(records.pop().expect("a result")["type"], "result");
    assert!(records.iter().all(|record| record["surfaces"].as_array().is_some_and(|surfaces| !surfaces.is_empty())));
    home.windlass(&["log", "--surface", "nowhere"]).run().expect(2);
}

#[test]
fn a_check_that_failed_is_told_and_recorded() {
    let home = Home::playing(HELLO);
    home.run(&["--base-case", "file: never.txt", "--max-attempts", "1"]).run().expect(1);
    let log = |surface: &str| home.windlass(&["log", "--surface", surface]).run().expect(0).stdout;
    for (surface, is_told) in [("stream", true), ("activity", true), ("review", false)] {
        let told = log(surface);
        assert_eq!(told.contains("check `never.txt exists` failed"), is_told, "{surface}:\n{told}");
    }
    home.run(&["--base-case", "file: hello.txt"]).run().expect(0);
    assert!(log("activity").contains("check `hello.txt exists` passed"));
    assert!(!log("stream").contains("check"), "one that passed is for the record alone");
}

#[test]
fn a_blocked_call_is_told_with_its_gate_whatever_its_risk() {
    let home = Home::playing(HELLO);
    fs::create_dir_all(home.data()).expect("a data directory");
    let gate =
        "- { name: no-hello, on: on_tool_call, type: regex, config: { field: tool_args.path, pattern: hello } }\n";
    fs::write(home.data().join("gates.yaml"), gate).expect("written");
    home.run(&[]).run().expect(0);
    assert_shown!(home, home.windlass(&["log", "--surface", "all"]).run(), @"
    exit code 0
    --- stdout
    [CLOCK]  activity          Do it
    [CLOCK]  activity          task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    [CLOCK]  activity
    [CLOCK]  activity          │ I will write the file.
    [CLOCK]  review            ! write hello.txt  blocked by the gate no-hello: `tool_args.path` holds what it must not
    [CLOCK]  stream activity   ▸ write hello.txt  not done: the gate `no-hello`: `tool_args.path` holds what it must not. Find another way. · [TIME]
    [CLOCK]  stream
    [CLOCK]  stream            │ Done.
    [CLOCK]  stream
    [CLOCK]  stream            COMPLETED, not verified  2 model calls · 1 tool call · 1,950 tokens · $0.0000 · [TIME]
    ");
}
