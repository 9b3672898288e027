//! A git that waits for something that never comes: a pipe where it reads a file. It is not waited for, and nothing of it stays.

#![expect(clippy::disallowed_methods, reason = "git makes the repositories")]

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use windlass_workspace::{Error, GitReference, SnapshotLimits, SnapshotSetup, Snapshots, Step};

use crate::support::{MADE, Yard, never, pipe};

fn git(folder: &Path, words: &[&str]) {
    let ended = Command::new("git")
        .current_dir(folder)
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(words)
        .output()
        .expect("git");
    assert!(ended.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

fn repository() -> Yard {
    let yard = Yard::new();
    yard.put("a", "a");
    git(&yard.inside(""), &["init", "-q"]);
    git(&yard.inside(""), &["add", "-A"]);
    git(&yard.inside(""), &["commit", "-q", "-m", "first"]);
    yard
}

/// Git may be silent for so long.
fn snapshots(yard: &Yard, git_silence: Duration) -> Snapshots {
    let limits = SnapshotLimits { git_silence, ..SnapshotLimits::default() };
    let setup = SnapshotSetup::new(yard.inside(""), yard.path("data"), Vec::new());
    Snapshots::open(SnapshotSetup { limits, ..setup }).unwrap()
}

const SHORT: Duration = Duration::from_millis(200);
/// Longer than any test may take.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// Processes that have this folder in their arguments.
fn at_work_in(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap().to_owned();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let commands = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    let commands = commands.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    commands.filter(|command| command.starts_with("git ") && command.contains(&folder)).collect()
}

/// Where git reads, and hence waits.
const PLACES: [&str; 3] = [".gitignore", ".git/info/exclude", "included"];

fn put_pipe(yard: &Yard, place: &str) {
    let path = yard.inside(place);
    let _ = fs::remove_file(&path);
    if place == "included" {
        git(&yard.inside(""), &["config", "include.path", path.to_str().unwrap()]);
    }
    pipe(&path);
}

#[test]
fn a_git_that_waits_for_a_pipe_is_not_waited_for() {
    for place in PLACES {
        let yard = repository();
        let baseline = snapshots(&yard, LONG).capture().unwrap();
        put_pipe(&yard, place);
        let told = snapshots(&yard, SHORT).capture().unwrap_err().to_string();
        assert!(told.contains("`git ls-files") && told.contains(".git/info/exclude"), "{place}: {told}");
        assert_eq!(at_work_in(&yard.inside("")), Vec::<String>::new(), "{place}");
        // What needs no repository goes on.
        assert!(snapshots(&yard, SHORT).capture_under(baseline, &never).is_ok(), "{place}");
        fs::remove_file(yard.inside(place)).unwrap();
        assert!(snapshots(&yard, LONG).capture().is_ok(), "{place}: control");
    }
}

#[test]
fn drawing_ends_when_somebody_wants_it_to() {
    let yard = repository();
    let tree = snapshots(&yard, LONG).capture().unwrap();
    put_pipe(&yard, "included");
    let reference = GitReference::new(&["0199f1c2", "work"]).unwrap();
    let step = Step { tree, after: None, message: "work", at: MADE };
    let told = snapshots(&yard, SHORT).draw(&reference, step, &never).unwrap_err().to_string();
    assert!(told.contains("`git rev-parse"), "{told}");
    // It is asked again and again while git waits, and says yes at last.
    let asked = Cell::new(0);
    let soon = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let stopped = snapshots(&yard, LONG).draw(&reference, step, &soon);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    assert_eq!(at_work_in(&yard.inside("")), Vec::<String>::new());
}
