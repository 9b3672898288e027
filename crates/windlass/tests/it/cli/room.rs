//! A disk that is nearly full: nothing new is taken, what is worked on rests and says why, and all of it goes on by itself when there is
//! room. The disk is a small one in memory, which takes a privilege to make; where there is none, that is said.

#![expect(clippy::print_stdout, reason = "where no disk can be made, the test says that it tested nothing")]

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::Signal;

use super::cards::standing;
use super::configuring::configured;
use super::scripts::{HELLO, THINKER};
use crate::support::Home;

/// Sixty-four mebibytes, of which sixteen must stay free.
struct SmallDisk {
    home: Home,
}

impl SmallDisk {
    fn under(home: Home) -> Option<Self> {
        std::fs::create_dir(home.data()).expect("a data directory");
        if let Err(errno) = mount("tmpfs", home.data(), "tmpfs", MountFlags::empty(), Some(c"size=64m,mode=700")) {
            println!("no small disk here: {errno}");
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
