//! `windlass resume`: what there is to go on with, and how it goes on.

use super::assert_shown;
use super::scripts::{HELLO, SLEEPER};
use crate::support::{Home, Ledger, none_left};
use rustix::process::Signal;

#[test]
fn without_tasks() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["resume"]).run(), @"");
}

#[test]
fn a_finished_task_has_nothing_to_go_on_with() {
    let home = Home::playing(HELLO);
    home.run(&[]).run().expect(0);
    assert_shown!(home, home.windlass(&["resume"]).run(), @"");
    let id = home.windlass(&["status", "--json"]).run().result()["task_id"].as_str().expect("an id").to_owned();
    assert_shown!(home, home.windlass(&["resume", &id]).run(), @"");
}

#[test]
fn after_kill_9_the_command_in_flight_is_said_to_be_uncertain() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let run = home.run(&[]).start();
    ledger.wait_for("begun");
    run.signal(Signal::KILL);
    assert!(run.end().was_killed());
    // At once, without waiting for anything: that is what people do.
    assert_shown!(home, home.windlass(&["resume"]).run(), @"");
    assert_eq!(ledger.count().into_iter().collect::<Vec<_>>(), [("begun".to_owned(), 1)]);
    none_left(&home);
}

#[test]
fn the_script_the_folder_and_the_limits_are_those_it_was_started_with() {
    let home = Home::playing(HELLO);
    home.write("sub/notes.txt", "");
    let run = home.run(&["--workspace", "sub", "--max-iterations", "1"]).env("WINDLASS_CRASH_AT", "permitted:1");
    assert!(run.run().was_killed());
    std::fs::remove_file(home.script()).expect("the script may go");
    assert_shown!(home, home.windlass(&["resume"]).run(), @"");
    assert_eq!(home.read("sub/hello.txt"), "hi\n");
}

#[test]
fn a_workspace_that_has_gone_is_said() {
    let home = Home::playing(HELLO);
    home.write("sub/notes.txt", "");
    let run = home.run(&["--workspace", "sub"]).env("WINDLASS_CRASH_AT", "permitted:1");
    assert!(run.run().was_killed());
    std::fs::remove_dir_all(home.workspace().join("sub")).expect("it goes");
    assert_shown!(home, home.windlass(&["resume"]).run(), @"");
}

#[test]
fn the_demo_goes_on_where_it_was_killed() {
    let home = Home::new();
    let demo = home.windlass(&["demo"]).env("WINDLASS_CRASH_AT", "permitted:4");
    assert!(demo.run().was_killed());
    assert_shown!(home, home.windlass(&["demo"]).run(), @"");
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    assert_eq!(tasks.len(), 1, "the same task, not another");
}
