//! `windlass resume`: what there is to go on with, and how it goes on.

use super::assert_shown;
use super::scripts::{HELLO, SLEEPER};
use crate::support::{Home, Ledger, none_left};
use rustix::process::Signal;

#[test]
fn without_tasks() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["resume"]).run(), @"
    exit code 2
    --- stderr
    error: no task is waiting to go on
    hint: `windlass status` lists the tasks
    ");
}

#[test]
fn a_finished_task_has_nothing_to_go_on_with() {
    let home = Home::playing(HELLO);
    home.run(&[]).run().expect(0);
    assert_shown!(home, home.windlass(&["resume"]).run(), @"
    exit code 2
    --- stderr
    error: no task is waiting to go on
    hint: `windlass status` lists the tasks
    ");
    let id = home.windlass(&["status", "--json"]).run().objects()[0]["task_id"].as_str().expect("an id").to_owned();
    assert_shown!(home, home.windlass(&["resume", &id]).run(), @"
    exit code 2
    --- stderr
    error: task [SHORT] has already ended
    hint: `windlass log [SHORT]` shows how
    ");
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
    assert_shown!(home, home.windlass(&["resume"]).run(), @"
    exit code 0
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ This takes long.
    ── so far; going on from here ──
    ↻ the process that ran this is gone; going on where its journal ends
    ◌ bash trap '' TERM; echo begun > ledger; sleep 10000 & sleep 10000; echo ended > ledger  interrupted: whether it happened is not known · [TIME]

    │ Done without it.

    COMPLETED, not verified  2 model calls · 1 tool call · 1,950 tokens · $0.0000 · [TIME]
    ");
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
    assert_shown!(home, home.windlass(&["resume"]).run(), @"
    exit code 1
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace/sub · sandbox bubblewrap

    │ I will write the file.
    ── so far; going on from here ──
    ↻ the process that ran this is gone; going on where its journal ends
    ↻ write hello.txt · run again: it had not happened
    ▸ write hello.txt  Created (3 bytes). · [TIME]

    FAILED  1 model call · 1 tool call · 940 tokens · $0.0000 · [TIME]
    error: the iteration limit is reached
    hint: raise it with --max-iterations
    ");
    assert_eq!(home.read("sub/hello.txt"), "hi\n");
}

#[test]
fn a_workspace_that_is_away_is_said_and_the_task_waits_for_it() {
    let home = Home::playing(HELLO);
    home.write("sub/notes.txt", "");
    let run = home.run(&["--workspace", "sub"]).env("WINDLASS_CRASH_AT", "permitted:1");
    assert!(run.run().was_killed());
    let (here, away) = (home.workspace().join("sub"), home.path().join("away"));
    std::fs::rename(&here, &away).expect("it goes");
    let refused = home.windlass(&["resume"]).run().expect(2);
    assert!(refused.stderr.contains(&*here.to_string_lossy()), "{}", refused.stderr);
    std::fs::rename(&away, &here).expect("it comes back");
    home.windlass(&["resume"]).run().expect(0);
    assert_eq!(home.read("sub/hello.txt"), "hi\n");
}

#[test]
fn the_demo_goes_on_where_it_was_killed() {
    let home = Home::new();
    let demo = home.windlass(&["demo"]).env("WINDLASS_CRASH_AT", "permitted:2");
    assert!(demo.run().was_killed());
    let said = home.windlass(&["demo"]).run().expect(0).stdout;
    let (before, after) = said.split_once("── so far; going on from here ──").expect("both are told");
    assert!(before.contains("✓ begun, with your approval"), "{said}");
    assert!(after.contains("COMPLETED, verified") && after.contains("it used 5 attempts"), "{said}");
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    assert_eq!(tasks.len(), 1, "the same task, not another");
}
