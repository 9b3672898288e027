//! Swapping things under the runtime's hands: another thread keeps exchanging a folder inside with a symlink that leads
//! out, as a command in the sandbox could, while files are read, written, listed and captured.

#![expect(clippy::disallowed_methods, reason = "the attacker is a thread")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use windlass_workspace::WorkspacePath;

use crate::support::{Finished, SECRET, Yard, at};

const ROUNDS: usize = 3_000;

/// Runs `victim` while `inside/door` is a folder and a symlink out by turns, and `inside/page` a file and a symlink out.
fn while_swapping(yard: &Yard, victim: impl FnOnce()) {
    yard.put("door/secret", "harmless");
    symlink("../workspace-evil", yard.inside("trap")).unwrap();
    yard.put("page", "harmless");
    symlink("../workspace-evil/secret", yard.inside("bait")).unwrap();
    let done = AtomicBool::new(false);
    let (door, trap) = (yard.inside("door"), yard.inside("trap"));
    let (page, bait) = (yard.inside("page"), yard.inside("bait"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                exchange(&door, &trap);
                exchange(&page, &bait);
            }
        });
        let _finished = Finished(&done);
        victim();
    });
}

fn exchange(one: &Path, other: &Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

#[test]
fn reading_never_leaves_though_checking_first_and_then_opening_does() {
    let yard = Yard::new();
    let root = yard.root();
    let (mut inside, mut refused, mut fooled) = (0, 0, 0);
    while_swapping(&yard, || {
        // The control goes on until it was fooled once, so that the test cannot pass because nothing was swapped.
        let mut rounds = 0;
        while rounds < ROUNDS || fooled == 0 || inside == 0 || refused == 0 {
            rounds += 1;
            match root.read(&at("door/secret"), 100) {
                Ok(bytes) => {
                    assert_eq!(bytes, b"harmless", "read through the swapped folder");
                    inside += 1;
                }
                Err(_) => refused += 1,
            }
            let checked = yard.inside("door/secret").canonicalize();
            if checked.is_ok_and(|path| path.starts_with(yard.inside("")))
                && fs::read_to_string(yard.inside("door/secret")).is_ok_and(|text| text == SECRET)
            {
                fooled += 1;
            }
        }
    });
}

#[test]
fn writing_never_leaves() {
    let yard = Yard::new();
    let root = yard.root();
    while_swapping(&yard, || {
        let (mut written, mut refused, mut rounds) = (0, 0, 0);
        while rounds < 300 || written == 0 || refused == 0 {
            rounds += 1;
            for path in ["door/new", "door/deep/er/new", "door/secret", "page"] {
                match root.write(&at(path), b"overwritten") {
                    Ok(()) => written += 1,
                    Err(_) => refused += 1,
                }
            }
            let _ = root.remove(&at("door/new"));
            let _ = root.sweep(&at("door/secret"));
        }
    });
    assert_eq!(fs::read_to_string(yard.outside("secret")).unwrap(), SECRET);
    assert_eq!(fs::read_dir(yard.outside("")).unwrap().count(), 1, "something was made outside");
}

#[test]
fn searching_and_capturing_never_leave_and_never_fail() {
    let yard = Yard::new();
    let snapshots = yard.snapshots();
    let root = yard.root();
    while_swapping(&yard, || {
        for _ in 0..200 {
            windlass_workspace::Search::default()
                .run(&root, &WorkspacePath::top(), &mut |visit| {
                    if let Some(mut file) = visit.open().unwrap() {
                        let mut text = String::new();
                        std::io::Read::read_to_string(&mut file, &mut text).unwrap();
                        assert_eq!(text, "harmless");
                    }
                    std::ops::ControlFlow::Continue(())
                })
                .unwrap();
            snapshots.capture().unwrap();
        }
    });
    let objects = walk(&yard.path("data/objects"));
    assert!(objects.iter().any(|content| content == b"harmless"));
    assert!(!objects.iter().any(|content| content == SECRET.as_bytes()), "the secret was captured");
}

fn walk(folder: &Path) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(fs::read(entry.path()).unwrap());
        }
    }
    found
}
