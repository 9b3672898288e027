//! `windlass store prune`: what tasks weigh that ended long ago goes; what happened, and whatever is not over, stays.

use std::path::PathBuf;

use super::assert_shown;
use super::configuring::configured;
use super::scripts::{HELLO, THINKER};
use crate::support::Home;

fn trace(home: &Home, task: &str) -> PathBuf {
    home.data().join("traces").join(format!("{task}.jsonl"))
}

fn run_to(home: &Home, code: i32) -> String {
    let ended = home.run(&["--json"]).run().expect(code);
    ended.result()["task_id"].as_str().expect("an id").to_owned()
}

fn prune(home: &Home, more: &[&str]) -> serde_json::Value {
    let words = ["store", "prune", "--json", "--older-than", "0d"];
    home.windlass(&[&words, more].concat()).run().expect(0).result()
}

#[test]
fn what_ended_long_ago_goes_and_the_record_of_it_stays() {
    let home = Home::playing(HELLO);
    let over = run_to(&home, 0);
    std::fs::write(home.script(), THINKER).expect("another script");
    let mut run = home.run(&["--json"]).start();
    run.wait_for_record("model.requested");
    run.signal(rustix::process::Signal::INT);
    let paused = run.end().expect(5).result()["task_id"].as_str().expect("an id").to_owned();
    assert!(trace(&home, &over).exists() && trace(&home, &paused).exists());

    let young = home.windlass(&["store", "prune", "--json", "--older-than", "1d"]).run().expect(0).result();
    assert_eq!((&young["tasks"], &young["files"]), (&0.into(), &0.into()), "it ended today");
    let would = prune(&home, &["--dry-run"]);
    assert_eq!(would["tasks"], 1, "{would}");
    assert!(would["files"].as_u64() >= Some(1) && would["bytes"].as_u64() > Some(0), "{would}");
    assert!(trace(&home, &over).exists(), "nothing went");
    let went = prune(&home, &[]);
    assert_eq!((&went["tasks"], &went["files"]), (&would["tasks"], &would["files"]));
    assert!(!trace(&home, &over).exists() && trace(&home, &paused).exists());
    assert_eq!(prune(&home, &[])["tasks"], 0, "it is done once");

    let log = home.windlass(&["log", &over]).run().expect(0);
    assert!(log.stdout.contains("hello.txt"), "{}", log.stdout);
    home.windlass(&["audit", "verify"]).run().expect(0);
    home.windlass(&["resume", &paused]).run().expect(0);
}

#[test]
fn nobody_prunes_without_being_told_how_old() {
    let home = Home::playing(HELLO);
    run_to(&home, 0);
    assert_shown!(home, home.windlass(&["store", "prune"]).run(), @"
    exit code 2
    --- stderr
    error: nobody says how old what goes must be
    hint: say it, as in --older-than 30d, or set `days` in [retention] of windlass.toml
    ");
    configured(&home, "[retention]\ndays = 30\n");
    assert_shown!(home, home.windlass(&["store", "prune"]).run(), @"
    exit code 0
    --- stdout
    PRUNED  0 files and 0 blobs of 0 tasks, 0 KiB
    ");
}
