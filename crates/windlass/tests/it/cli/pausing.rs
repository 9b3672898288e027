//! Ctrl-C: pauses with exit code 5, leaves nothing running, and `resume` completes.

use super::assert_shown;
use super::scripts::{HELLO, SLEEPER, THINKER};
use crate::support::{Home, Ledger, Running, none_left, read, wait_for_process};
use rustix::process::Signal;

#[test]
fn while_a_command_runs() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let run = home.run(&[]).start();
    ledger.wait_for("begun");
    run.signal(Signal::INT);
    assert_shown!(home, run.end(), @"
    exit code 5
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ This takes long.
    pausing; again to leave at once
    ◌ bash trap '' TERM; echo begun > ledger; sleep 10000 & sleep 10000; echo ended > ledger  interrupted: whether it happened is not known · [TIME]
    paused · paused by the user

    PAUSED  1 model call · 1 tool call · 940 tokens · $0.0000 · [TIME]
    to go on: windlass resume [SHORT]
    ");
    none_left(&home);
    assert_shown!(home, home.windlass(&["resume"]).run(), @"
    exit code 0
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap

    │ This takes long.
    ◌ bash trap '' TERM; echo begun > ledger; sleep 10000 & sleep 10000; echo ended > ledger  interrupted: whether it happened is not known · [TIME]
    paused · paused by the user
    ── so far; going on from here ──
    going on · resumed
    ← Task resumed by user

    │ Done without it.

    COMPLETED, not verified  2 model calls · 1 tool call · 1,950 tokens · $0.0000 · [TIME]
    ");
    assert_eq!(ledger.count().into_iter().collect::<Vec<_>>(), [("begun".to_owned(), 1)]);
}

#[test]
fn while_the_model_thinks() {
    let home = Home::playing(THINKER);
    let mut run = home.run(&["--json"]).start();
    run.wait_for_record("model.requested");
    run.signal(Signal::INT);
    run.end().expect(5);
    none_left(&home);
    assert_shown!(home, home.windlass(&["resume"]).run(), tokens aside, @"
    exit code 0
    --- stdout
    Do it
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    paused · paused by the user
    ── so far; going on from here ──
    going on · resumed
    ← Task resumed by user

    │ Done after all.

    COMPLETED, not verified  2 model calls · 0 tool calls · [TOKENS] tokens · $0.0000 · [TIME]
    ");
}

#[test]
fn a_service_manager_s_stop_and_a_lost_terminal_pause_as_well() {
    for signal in [Signal::TERM, Signal::HUP] {
        let home = Home::playing(THINKER);
        let mut run = home.run(&["--json"]).start();
        run.wait_for_record("model.requested");
        run.signal(signal);
        assert_eq!(run.end().expect(5).result()["status"], "PAUSED");
        home.windlass(&["resume"]).run().expect(0);
    }
}

#[test]
fn a_task_can_be_paused_again_and_again() {
    let home = Home::playing(
        r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "echo first > ledger; sleep 10000" } } ]
    - calls: [ { tool: bash, args: { command: "echo second > ledger; sleep 10000" } } ]
    - reply: Done without them.
"#,
    );
    let mut ledger = Ledger::open(&home);
    let pause = |run: Running| {
        run.signal(Signal::INT);
        run.end().expect(5);
    };
    let run = home.run(&[]).start();
    ledger.wait_for("first");
    pause(run);
    let resumed = home.windlass(&["resume"]).start();
    ledger.wait_for("second");
    pause(resumed);
    home.windlass(&["resume"]).run().expect(0);
    let effects: Vec<(String, usize)> = ledger.count().into_iter().collect();
    assert_eq!(effects, [("first".to_owned(), 1), ("second".to_owned(), 1)]);
    none_left(&home);
}

#[test]
fn while_a_check_runs_the_check_is_made_again_later() {
    let home = Home::playing(HELLO);
    home.write("slow", "");
    // What decides is in the workspace: while `slow` is there the check hangs.
    let check = "{command: 'test ! -e slow || sleep 12345', timeout: 3000}";
    let run = home.run(&["--base-case", check]).start();
    wait_for_process(&home, "sleep 12345");
    run.signal(Signal::INT);
    run.end().expect(5);
    none_left(&home);
    std::fs::remove_file(home.workspace().join("slow")).expect("it goes");
    let result = home.windlass(&["resume", "--json"]).run().expect(0).result();
    assert_eq!(result["verified"], true);
    assert_eq!(read(&home).of("attempt.started").count(), 1, "and no attempt is spent on it");
}

#[test]
fn twice_leaves_at_once_and_loses_nothing() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let run = home.run(&[]).start();
    ledger.wait_for("begun");
    run.signal(Signal::INT);
    run.signal(Signal::INT);
    run.end().expect(5);
    home.windlass(&["resume"]).run().expect(0);
    assert_eq!(ledger.count().into_iter().collect::<Vec<_>>(), [("begun".to_owned(), 1)]);
    none_left(&home);
}

/// From another terminal, as Ctrl-C where it is worked on.
#[test]
fn a_pause_from_another_terminal_rests_until_it_is_resumed() {
    let home = Home::playing(THINKER);
    let mut run = home.run(&["--json"]).start();
    run.wait_for_record("model.requested");
    assert_shown!(home, home.windlass(&["pause", "--reason", "lunch"]).run(), @"
    exit code 0
    --- stdout
    PAUSED  task [SHORT]  lunch
    to go on: windlass resume [SHORT]
    ");
    let paused = run.end().expect(5).result();
    assert_eq!(paused["status"], "PAUSED");
    let again = home.windlass(&["pause"]).run().expect(2).stderr;
    assert!(again.contains("no task is worked on that could be paused"), "{again}");
    let task = paused["task_id"].as_str().expect("an id");
    let named = home.windlass(&["pause", task]).run().expect(2).stderr;
    assert!(named.contains("rests already: lunch") && named.contains("windlass resume"), "{named}");
    let resumed = home.windlass(&["resume", "--json"]).run().expect(0).result();
    assert_eq!(resumed["final_message"], "Done after all.");
}
