//! `windlass worker` and `run --detach`: who goes on with what nobody works on.

use std::fs;
use std::net::TcpListener;

use rustix::process::Signal;

use super::assert_shown;
use super::cards::{approve, is_there, open_cards, standing, waits_to_ask};
use super::scripts::{HELLO, SLEEPER};
use crate::support::{Home, Ledger, none_left, read};

#[test]
fn a_detached_run_is_done_by_a_worker() {
    let home = Home::playing(HELLO);
    assert_shown!(home, home.run(&["--detach"]).run(), @"
    exit code 0
    --- stdout
    [ID]
    ");
    assert_eq!(standing(&home), "queued");
    assert!(!is_there(&home, "hello.txt"));
    assert_shown!(home, home.windlass(&["worker", "--until-idle"]).run(), @"
    exit code 0
    --- stdout
    [SHORT]  taken
    [SHORT]  completed
    ");
    assert_eq!(home.read("hello.txt"), "hi\n");
    let detached = home.run(&["--detach", "--json"]).run().expect(0).result();
    let told = home.windlass(&["worker", "--until-idle", "--json"]).run().expect(0).objects();
    let of_tasks: Vec<_> = told.iter().filter(|told| told["type"] == "task").collect();
    assert_eq!(of_tasks.iter().map(|told| &told["standing"]).collect::<Vec<_>>(), ["taken", "completed"]);
    assert!(of_tasks.iter().all(|told| told["task_id"] == detached["task_id"]), "{told:?}");
    assert!(told.iter().all(|told| told["type"] == "task" || told["type"] == "telemetry"), "{told:?}");
    assert_eq!(home.windlass(&["worker", "--until-idle"]).run().expect(0).stdout, "");
}

#[test]
fn a_worker_parks_what_asks_and_goes_on_when_it_is_answered() {
    let home = waits_to_ask();
    home.run(&["--detach"]).run().expect(0);
    let mut worker = home.windlass(&["worker"]).start();
    worker.wait_for(|line| line.contains("  waiting"));
    approve(&home);
    worker.wait_for(|line| line.contains("  completed"));
    assert!(!is_there(&home, "old.txt"));
    worker.signal(Signal::INT);
    worker.end().expect(0);
    none_left(&home);
}

#[test]
fn a_worker_takes_over_what_kill_9_left_behind() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let run = home.run(&[]).start();
    ledger.wait_for("begun");
    run.signal(Signal::KILL);
    assert!(run.end().was_killed());
    let mut worker = home.windlass(&["worker"]).start();
    worker.wait_for(|line| line.contains("  completed"));
    worker.signal(Signal::TERM);
    worker.end().expect(0);
    assert_eq!(ledger.count().into_iter().collect::<Vec<_>>(), [("begun".to_owned(), 1)], "and nothing twice");
    none_left(&home);
}

#[test]
fn a_card_that_nobody_answers_in_time_lapses() {
    let home = waits_to_ask();
    fs::create_dir(home.data()).expect("a data directory");
    fs::write(home.data().join("windlass.toml"), "[approvals]\nlifetime_seconds = 1\n").expect("written");
    home.run(&["--detach"]).run().expect(0);
    let mut worker = home.windlass(&["worker"]).start();
    worker.wait_for(|line| line.contains("  waiting"));
    worker.wait_for(|line| line.contains("  completed"));
    worker.signal(Signal::INT);
    worker.end().expect(0);
    assert!(is_there(&home, "old.txt") && open_cards(&home).is_empty());
    let card =
        read(&home).of("decision.recorded").next().expect("it was asked")["data"]["decision"]["waiting"]["card_id"]
            .clone();
    assert_shown!(home, home.windlass(&["approve", card.as_str().expect("an id"), "--yes"]).run(), @"
    exit code 2
    --- stderr
    error: the card has expired; nothing was changed
    ");
    let log = home.windlass(&["log"]).run().expect(0).stdout;
    assert!(log.contains("│ Nobody was there."), "{log}");
}

#[test]
fn a_stopped_worker_leaves_its_tasks_for_others() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    home.run(&["--detach"]).run().expect(0);
    let mut worker = home.windlass(&["worker"]).start();
    ledger.wait_for("begun");
    worker.signal(Signal::INT);
    worker.wait_for(|line| line.contains("takes nothing new"));
    worker.signal(Signal::INT);
    worker.end().expect(0);
    none_left(&home);
    home.windlass(&["resume"]).run().expect(0);
    assert_eq!(ledger.count().into_iter().collect::<Vec<_>>(), [("begun".to_owned(), 1)]);
}

/// As a service manager ends it: once, and what does not end in time is left to others.
#[test]
fn a_worker_told_to_end_leaves_what_takes_too_long() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    home.run(&["--detach"]).run().expect(0);
    let mut worker = home.windlass(&["worker", "--drain", "1"]).start();
    ledger.wait_for("begun");
    worker.signal(Signal::TERM);
    worker.wait_for(|line| line.contains("takes nothing new"));
    worker.end().expect(0);
    none_left(&home);
    home.windlass(&["worker", "--until-idle"]).run().expect(0);
    assert_eq!(ledger.count().into_iter().collect::<Vec<_>>(), [("begun".to_owned(), 1)], "and nothing twice");
}

#[test]
fn no_key_goes_to_a_server_that_it_does_not_stand_beside() {
    let home = Home::new();
    let run = home.windlass(&["run", "Do it", "--detach", "--model", "m"]);
    run.env("LITELLM_API_BASE", "http://127.0.0.1:1").env("LITELLM_API_KEY", "sk-one-and-only").run().expect(0);
    let worker = home.windlass(&["worker", "--until-idle"]);
    let ended = worker.env("LITELLM_API_BASE", "http://127.0.0.1:2").env("LITELLM_API_KEY", "sk-another").run();
    let ended = ended.expect(0);
    assert!(
        ended.stdout.contains("paused") && ended.stdout.contains("which is not configured here"),
        "{}",
        ended.stdout
    );
}

#[test]
fn wrong_use_is_explained() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["worker", "--concurrency", "0"]).run(), @"
    exit code 2
    --- stderr
    error: --concurrency must be at least 1
    ");
    fs::create_dir(home.data()).expect("a data directory");
    fs::write(home.data().join("windlass.toml"), "[approvals]\nlifetime_seconds = 0\n").expect("written");
    assert_shown!(home, home.windlass(&["worker", "--until-idle"]).run(), @"
    exit code 2
    --- stderr
    error: [HOME]/data/windlass.toml:2:1: [approvals]: `lifetime_seconds` must be at least 1: nobody could answer in time
    ");
}

/// The store does not answer: whoever replaces a process at that moment asks it to end, and need not kill it.
#[test]
fn who_is_told_to_end_while_it_begins_ends_by_itself() {
    for words in [&["serve", "--listen", "127.0.0.1:0"][..], &["worker"]] {
        let home = Home::playing(HELLO);
        let mute = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("postgres://me@{}/windlass", mute.local_addr().expect("an address"));
        let begins = home.windlass(words).env("WINDLASS_STORE_URL", &url).start();
        let asked = mute.accept().expect("it asks");
        begins.signal(Signal::TERM);
        drop((asked, mute));
        let stderr = begins.end().expect(1).stderr;
        assert!(stderr.contains("cannot be reached"), "{words:?}: {stderr}");
    }
}
