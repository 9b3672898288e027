//! A disk that is nearly full: nothing new is taken, what is worked on rests and says why, and all of it goes on by itself when there is
//! room. The disk is a small one in memory, which takes a privilege to make; where there is none, that is said, and with
//! `WINDLASS_SMALL_DISK=must` it is a failure.

#![expect(clippy::print_stdout, reason = "where no disk can be made, the test says that it tested nothing")]

use std::collections::BTreeMap;

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::Signal;
use serde_json::json;

use super::cards::standing;
use super::configuring::configured;
use super::scripts::{HELLO, THINKER};
use super::serving::serve;
use crate::support::{Home, collect};

/// Sixty-four mebibytes, of which sixteen must stay free.
struct SmallDisk {
    home: Home,
}

impl SmallDisk {
    fn under(home: Home) -> Option<Self> {
        std::fs::create_dir(home.data()).expect("a data directory");
        if let Err(errno) = mount("tmpfs", home.data(), "tmpfs", MountFlags::empty(), Some(c"size=64m,mode=700")) {
            let must = std::env::var("WINDLASS_SMALL_DISK").is_ok_and(|word| word == "must");
            assert!(!must, "no small disk can be made: {errno}");
            println!("SKIPPED, nothing was tested with a small disk: {errno}");
            return None;
        }
        configured(&home, "[limits]\nmin_free_bytes = 16777216\n");
        Some(Self { home })
    }

    fn fill(&self) {
        std::fs::write(self.home.data().join("ballast"), vec![1; 52 << 20]).expect("there is room for it");
    }

    fn empty(&self) {
        std::fs::remove_file(self.home.data().join("ballast")).expect("removed");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        unmount(self.home.data(), UnmountFlags::DETACH).expect("it was mounted");
    }
}

#[test]
fn nothing_new_is_taken_until_there_is_room() {
    let Some(disk) = SmallDisk::under(Home::playing(HELLO)) else { return };
    let home = &disk.home;
    let worker = || home.windlass(&["worker", "--until-idle"]).run().expect(0);
    // The control: with room it is done.
    home.run(&["--detach"]).run().expect(0);
    assert!(worker().stdout.contains("completed"));
    disk.fill();
    home.run(&["--detach"]).run().expect(0);
    let idle = worker();
    assert_eq!(idle.stdout, "", "nothing is taken");
    assert!(idle.stderr.contains("the disk is nearly full"), "{}", idle.stderr);
    assert_eq!(standing(home), "queued");
    let status = home.windlass(&["status"]).run().expect(0);
    assert!(status.stderr.contains("the disk is nearly full"), "{}", status.stderr);
    let doctor = home.windlass(&["doctor"]).run().expect(1);
    assert!(doctor.stdout.contains("the disk is nearly full"), "{}", doctor.stdout);
    disk.empty();
    assert!(worker().stdout.contains("completed"));
    assert_eq!(home.windlass(&["status"]).run().expect(0).stderr, "");
}

#[test]
fn what_is_worked_on_rests_and_goes_on_by_itself() {
    let Some(disk) = SmallDisk::under(Home::playing(THINKER)) else { return };
    let home = &disk.home;
    home.run(&["--detach"]).run().expect(0);
    let mut worker = home.windlass(&["worker"]).start();
    worker.wait_for(|line| line.contains("  taken"));
    disk.fill();
    worker.wait_for(|line| line.contains("  paused") && line.contains("the disk is nearly full"));
    assert_eq!(standing(home), "paused");
    let status = home.windlass(&["status", "--json"]).run().expect(0);
    assert_eq!(status.objects()[0]["status"], "PAUSED", "{status:?}");
    disk.empty();
    worker.wait_for(|line| line.contains("  taken"));
    worker.wait_for(|line| line.contains("  completed"));
    worker.signal(Signal::TERM);
    worker.end().expect(0);
}

#[test]
fn a_run_before_ones_eyes_rests_too() {
    let Some(disk) = SmallDisk::under(Home::playing(THINKER)) else { return };
    disk.fill();
    let ended = disk.home.run(&[]).run().expect(5);
    assert!(ended.stdout.contains("the disk is nearly full"), "{ended:?}");
    disk.empty();
    disk.home.windlass(&["resume"]).run().expect(0);
}

/// Regression: a snapshot of its folder was made of each task that was asked for, until the disk was full; and then whoever asked for anything
/// read that something broke.
#[test]
fn a_server_takes_in_nothing_new_until_there_is_room() {
    let Some(disk) = SmallDisk::under(Home::playing(HELLO)) else { return };
    let home = &disk.home;
    home.run(&["--detach", "--base-case", "file: hello.txt"]).run().expect(0);
    let task = home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["task_id"].clone();
    let task = task.as_str().expect("an id");
    let kept = || {
        let mut files = BTreeMap::new();
        collect(&home.data(), &home.data().join("objects"), &mut files);
        files.into_keys().collect::<Vec<_>>()
    };
    disk.fill();
    let served = serve(home, &["--no-work"]);
    let wanted = json!({"goal": "Say hello", "base_case": ["file: hello.txt"]});
    home.write("large.txt", &"large\n".repeat(1_000));
    let before = kept();
    let session = served.post("/v1/sessions", &json!({})).expect(200).json()["session_id"].clone();
    let messages = format!("/v1/sessions/{}/messages", session.as_str().expect("an id"));
    for (path, body) in [("/v1/tasks", &wanted), (&messages, &json!({"message": "hello"}))] {
        let refused = served.post(path, body).expect(507).json();
        assert_eq!(refused["code"], "no_room", "{path}: {refused}");
        assert!(refused["detail"].as_str().is_some_and(|why| why.contains("nearly full")), "{path}: {refused}");
    }
    assert_eq!(kept(), before);
    // What is there can be looked at and ended.
    served.get(&format!("/v1/tasks/{task}")).expect(200);
    served.post(&format!("/v1/tasks/{task}/cancel"), &json!({})).expect(202);
    disk.empty();
    // The control: with room it is taken.
    while [429, 507].contains(&served.post("/v1/tasks", &wanted).status) {}
    assert!(kept().len() > before.len());
    served.end();
}
