//! Ctrl-C: pauses with exit code 5, leaves nothing running, and `resume` completes.

use super::assert_shown;
use super::scripts::{SLEEPER, THINKER};
use crate::support::{Home, Ledger, none_left, read};
use rustix::process::Signal;

#[test]
fn while_a_command_runs() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let run = home.run(&[]).start();
    ledger.wait_for("begun");
    run.signal(Signal::INT);
    assert_shown!(home, run.end(), @"");
    none_left(&home);
    assert_shown!(home, home.windlass(&["resume"]).run(), @"");
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
    assert_shown!(home, home.windlass(&["resume"]).run(), @"");
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
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let run = home.run(&[]).start();
    ledger.wait_for("begun");
    run.signal(Signal::INT);
    run.end().expect(5);
    // The pause comes before anything else can happen, or after all of it; both are in order.
    let again = home.windlass(&["resume", "--json"]).start();
    again.signal(Signal::INT);
    let ended = again.end();
    assert!(matches!(ended.status.code(), Some(0 | 5) | None), "{ended:?}");
    if read(&home).result.is_none() {
        home.windlass(&["resume"]).run().expect(0);
    }
    assert_eq!(read(&home).result.expect("a result")["status"], "COMPLETED");
    none_left(&home);
}
