//! `windlass cancel`, from another process: the run ends with exit code 4, and nothing is left running.

use super::assert_shown;
use super::scripts::{HELLO, SLEEPER, THINKER};
use crate::support::{Home, Ledger, Story, none_left, read, wait_for_process};
use rustix::process::Signal;
use serde_json::Value;

fn task_of(record: &Value) -> String {
    record["task_id"].as_str().expect("a task's record").to_owned()
}

#[test]
fn while_a_command_runs() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let mut run = home.run(&["--json"]).start();
    let task = task_of(&run.wait_for_record("task.created"));
    ledger.wait_for("begun");
    assert_shown!(home, home.windlass(&["cancel", &task[28..]]).run(), @"
    exit code 0
    --- stdout
    CANCELLED  task [SHORT]
    ");
    let ended = run.end().expect(4);
    assert_eq!(ended.result()["status"], "CANCELLED");
    none_left(&home);
    let story = read(&home);
    assert_eq!(statuses(&story), ["cancelled"], "the command is accounted for");
    assert_eq!(ledger.count().into_keys().collect::<Vec<_>>(), ["begun"]);
}

/// Whatever is written after it would count as looked at.
#[test]
fn labels_are_not_cleared_while_a_command_runs() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let mut run = home.run(&["--json"]).start();
    let task = task_of(&run.wait_for_record("task.created"));
    ledger.wait_for("begun");
    let refused = home.windlass(&["labels", "clear"]).run().expect(2);
    assert!(refused.stderr.contains("wait for its end, or cancel it"), "{}", refused.stderr);
    home.windlass(&["cancel", &task]).run().expect(0);
    run.end().expect(4);
    home.windlass(&["labels", "clear"]).run().expect(0);
}

#[test]
fn while_the_model_thinks() {
    let home = Home::playing(THINKER);
    let mut run = home.run(&[]).start();
    let line = run.wait_for(|line| line.starts_with("task "));
    while read(&home).of("model.requested").next().is_none() {}
    home.windlass(&["cancel", &line[5..13]]).run().expect(0);
    assert_shown!(home, run.end(), tokens aside, @"
    exit code 4
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    CANCELLED  1 model call · 0 tool calls · [TOKENS] tokens · $0.0000 · [TIME]
    error: cancelled by the user
    ");
    none_left(&home);
}

#[test]
fn while_a_check_runs() {
    let home = Home::playing(HELLO);
    let check = "{command: 'sleep 12345', timeout: 3000}";
    let mut run = home.run(&["--json", "--base-case", check]).start();
    let task = task_of(&run.wait_for_record("task.created"));
    wait_for_process(&home, "sleep 12345");
    home.windlass(&["cancel", &task]).run().expect(0);
    assert_eq!(run.end().expect(4).result()["status"], "CANCELLED");
    none_left(&home);
    assert_eq!(read(&home).of("checks.recorded").count(), 0, "a check that was stopped has decided nothing");
}

/// A stop that comes while something is only being prepared is heard as well as one that comes later.
#[test]
fn at_any_early_moment() {
    for step in
        ["state.changed", "model.requested", "model.responded", "tool.started", "tool.finished", "attempt.ended"]
    {
        let home = Home::playing(SLEEPER);
        let _ledger = Ledger::open(&home);
        let script = home.script();
        std::fs::write(&script, std::fs::read_to_string(&script).expect("a script").replace("sleep 10000;", "true;"))
            .expect("a command that ends");
        let mut run = home.run(&["--json", "--base-case", "{command: sleep 12345, timeout: 3000}"]).start();
        let task = task_of(&run.wait_for_record("task.created"));
        run.wait_for_record(step);
        home.windlass(&["cancel", &task]).run().expect(0);
        assert_eq!(run.end().expect(4).result()["status"], "CANCELLED", "cancelled at {step}");
        none_left(&home);
    }
}

#[test]
fn when_nobody_works_on_it() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let mut run = home.run(&["--json"]).start();
    let task = task_of(&run.wait_for_record("task.created"));
    ledger.wait_for("begun");
    run.signal(Signal::KILL);
    assert!(run.end().was_killed());
    assert_shown!(home, home.windlass(&["cancel", &task]).run(), @"
    exit code 0
    --- stdout
    CANCELLED  task [SHORT]
    ");
    assert_eq!(statuses(&read(&home)), ["interrupted"], "what was in flight is said to be uncertain");
    assert_shown!(home, home.windlass(&["resume"]).run(), @"
    exit code 2
    --- stderr
    error: no task is waiting to go on
    hint: `windlass status` lists the tasks
    ");
    none_left(&home);
}

#[test]
fn when_it_is_paused() {
    let home = Home::playing(THINKER);
    let mut run = home.run(&["--json"]).start();
    let task = task_of(&run.wait_for_record("task.created"));
    run.wait_for_record("model.requested");
    run.signal(Signal::INT);
    run.end().expect(5);
    let result = home.windlass(&["cancel", &task, "--json"]).run().expect(0).result();
    assert_eq!(result["status"], "CANCELLED");
    assert_eq!(result["error_details"]["error_code"], "cancelled");
}

#[test]
fn when_it_has_ended() {
    let home = Home::playing(HELLO);
    let result = home.run(&["--json"]).run().expect(0).result();
    assert_shown!(home, home.windlass(&["cancel", &task_of(&result)]).run(), @"
    exit code 2
    --- stderr
    error: task [ID] has already ended
    hint: `windlass status` lists the tasks
    ");
    assert_eq!(read(&home).result.expect("a result")["status"], "COMPLETED", "and it stays what it was");
}

/// What was asked for stays asked for, though nobody hears it yet.
#[test]
fn when_the_process_that_works_on_it_does_not_react() {
    let home = Home::playing(THINKER);
    let mut run = home.run(&["--json"]).start();
    let task = task_of(&run.wait_for_record("task.created"));
    run.wait_for_record("model.requested");
    run.signal(Signal::STOP);
    assert_shown!(home, home.windlass(&["cancel", &task]).run(), @"
    exit code 1
    --- stderr
    error: the process that works on task [SHORT] does not react. The task stays asked to stop, and does so as soon as that process hears of it; if it hangs, end it and cancel again
    ");
    run.signal(Signal::CONT);
    assert_eq!(run.end().expect(4).result()["status"], "CANCELLED");
}

fn statuses(story: &Story) -> Vec<String> {
    let status = |record: &Value| record["data"]["status"].as_str().expect("a status").to_owned();
    story.of("tool.finished").map(status).collect()
}
