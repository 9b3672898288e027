//! What an agent leaves may be huge, hollow or bottomless: work on it ends when somebody asks, costs no more than it
//! must, and says what is wrong with it.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;

use windlass_domain::{Digest, TreeId, Workspace, WorkspaceError};
use windlass_workspace::{Error, SnapshotLimits, SnapshotSetup, Snapshots, copy_folder};

use crate::capture::Opened;
use crate::support::{MADE, Unhurried, Yard, never, put};

/// Says stop when it is asked for the `n`-th time, as long as that is fewer than the work needs.
fn stopped_each_time<T>(work: impl Fn(&dyn Fn() -> bool) -> Result<T, Error>, least: usize) {
    let mut times = 0;
    loop {
        let asked = Cell::new(0);
        let soon = || {
            asked.set(asked.get() + 1);
            asked.get() > times
        };
        match work(&soon) {
            Ok(_) => break,
            Err(Error::Stopped) => assert_eq!(asked.get(), times + 1, "it stops at once and does not ask twice"),
            Err(other) => panic!("{other}"),
        }
        times += 1;
    }
    assert!(times >= least, "asked {times} times only");
}

/// Ten small files, and two of `large` bytes that are not zeros.
fn filled(large: usize) -> Yard {
    let yard = Yard::new();
    for n in 0..10 {
        yard.put(&format!("src/{n}"), n.to_string());
    }
    yard.put("large", vec![b'x'; large]);
    yard.put("output/large", vec![b'x'; large]);
    yard
}

#[test]
fn a_capture_can_be_stopped_at_every_file_and_within_a_large_one() {
    let yard = filled(5 << 18);
    let snapshots = yard.snapshots();
    let baseline = snapshots.capture().unwrap();
    stopped_each_time(|soon| snapshots.capture_under(baseline, soon), 10 + 5);
    assert_eq!(snapshots.candidate(baseline).unwrap().tree, baseline);
    assert_eq!(left_staged(&yard), 0, "a capture that was stopped leaves nothing");
}

#[test]
fn copying_restoring_and_carrying_can_be_stopped_too() {
    let yard = filled(5 << 17);
    let snapshots = yard.snapshots_carrying(&["output"]);
    let tree = snapshots.capture().unwrap();
    let count = Cell::new(0);
    let fresh = |name: &str| {
        count.set(count.get() + 1);
        yard.path(&format!("{name}{}", count.get()))
    };
    stopped_each_time(|soon| snapshots.materialise(tree, tree, &fresh("copy"), MADE, soon), 10 + 5 + 5);
    let copy = fresh("copy");
    snapshots.lay(tree, &copy).unwrap();
    assert!(copy.join("output/large").exists());
    stopped_each_time(|soon| copy_folder(&copy, &fresh("again"), soon), 10 + 5 + 5);
    let everything = ["**".to_owned()];
    stopped_each_time(|soon| snapshots.restore(tree, &everything, &copy, MADE, soon), 5);
}

fn left_staged(yard: &Yard) -> usize {
    let names = fs::read_dir(yard.path("data/objects")).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with(".windlass-tmp")).count()
}

/// As much of the disk as everything in a folder takes.
fn allocated(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let metadata = fs::symlink_metadata(entry.path()).unwrap();
            if metadata.is_dir() { allocated(&entry.path()) } else { metadata.blocks() * 512 }
        })
        .sum()
}

#[test]
fn holes_stay_holes_in_the_store_and_in_every_copy() {
    const LENGTH: u64 = 3 << 20;
    let yard = Yard::new();
    put(&yard.inside("output/x"), "");
    for (number, path) in ["a", "b", "output/c"].iter().enumerate() {
        let file = fs::File::create(yard.inside(path)).unwrap();
        file.set_len(LENGTH).unwrap();
        file.write_all_at(&[b'1' + number as u8], LENGTH / 2).unwrap();
    }
    // Small enough to be held in memory.
    fs::File::create(yard.inside("small")).unwrap().set_len(1 << 19).unwrap();
    let snapshots = yard.snapshots_carrying(&["output"]);
    let tree = snapshots.capture().unwrap();
    let copy = yard.path("copy");
    snapshots.lay(tree, &copy).unwrap();
    crate::support::copy_folder(&copy, &yard.path("again")).unwrap();
    for path in ["a", "b", "output/c", "small"] {
        let original = fs::read(yard.inside(path)).unwrap();
        assert!(
            fs::read(copy.join(path)).unwrap() == original
                && fs::read(yard.path("again").join(path)).unwrap() == original
        );
    }
    for folder in ["data", "copy", "again"] {
        let taken = allocated(&yard.path(folder));
        assert!(taken < 1 << 20, "{folder} takes {taken} bytes");
    }
    assert_eq!(snapshots.capture().unwrap(), tree);
    assert_eq!(snapshots.put_back(tree, &["a".to_owned()], &copy).unwrap(), Vec::<String>::new());
}

fn limited(yard: &Yard, files: u64, bytes: u64) -> Snapshots {
    let limits = SnapshotLimits { files, bytes, ..SnapshotLimits::default() };
    let carry = vec!["output".to_owned()];
    Snapshots::open(SnapshotSetup { workspace: yard.inside(""), data: yard.path("data"), carry, limits }).unwrap()
}

#[test]
fn a_folder_that_is_no_workspace_is_refused_before_it_is_copied_and_named() {
    let yard = Yard::new();
    for n in 0..4 {
        yard.put(&format!("data/raw/{n}"), vec![b'x'; 100]);
    }
    let refused = |files, bytes| match limited(&yard, files, bytes).capture() {
        Err(Error::TooMuch { most, folder }) => (most, folder),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(5, 1_000), ("5 files".to_owned(), "data/raw".to_owned()), "folders count too");
    assert_eq!(refused(6, 399), ("399 bytes".to_owned(), "data/raw".to_owned()));
    let baseline = limited(&yard, 6, 400).capture().unwrap();
    fs::File::create(yard.inside("sparse")).unwrap().set_len(1 << 42).unwrap();
    assert_eq!(refused(9, 8 << 30), ("8 GiB".to_owned(), ".".to_owned()));
    let opened = Opened::watch(&yard.inside("data/raw"));
    assert!(matches!(limited(&yard, 9, 8 << 30).candidate(baseline), Err(Error::TooMuch { .. })));
    assert_eq!(opened.names(), Vec::<String>::new(), "what comes before the large file is not read in vain");
    let when_read = || !opened.names().is_empty();
    let fitting = limited(&yard, 9, 1 << 43).capture_under(baseline, &when_read);
    assert!(matches!(fitting, Err(Error::Stopped)), "control");
}

#[test]
fn empty_folders_and_links_are_counted() {
    let yard = Yard::new();
    for n in 0..10 {
        fs::create_dir_all(yard.inside(&format!("many/{n}"))).unwrap();
        yard.link("nowhere", &format!("link{n}"));
    }
    assert!(matches!(limited(&yard, 20, 100).capture(), Err(Error::TooMuch { .. })));
    limited(&yard, 21, 100).capture().unwrap();
}

#[test]
fn what_is_carried_has_its_limit_too() {
    let yard = Yard::new();
    yard.put("a", "a");
    let snapshots = limited(&yard, 3, 1_000);
    let tree = snapshots.capture().unwrap();
    fs::create_dir(yard.inside("output")).unwrap();
    fs::File::create(yard.inside("output/hollow")).unwrap().set_len(1_001).unwrap();
    assert_eq!(snapshots.candidate(tree).unwrap().tree, tree, "it is no part of the candidate");
    let refused = snapshots.lay(tree, &yard.path("one")).unwrap_err();
    assert!(matches!(&refused, Error::TooMuch { folder, .. } if folder == "output"), "{refused}");
    fs::write(yard.inside("output/hollow"), vec![b'x'; 1_000]).unwrap();
    snapshots.lay(tree, &yard.path("two")).unwrap();
}

#[test]
fn folders_nested_for_ever_end() {
    let yard = Yard::new();
    fs::create_dir_all(yard.inside(&"d/".repeat(300))).unwrap();
    assert!(matches!(yard.snapshots().capture(), Err(Error::TooDeep { .. })));
}

/// Whoever runs the task hears whether it is the agent's to mend, or nobody's, or was wanted.
#[test]
fn the_agents_fault_is_told_apart_from_ours() {
    let told = |snapshots: &Snapshots, tree, stop: &dyn Fn() -> bool| {
        Workspace::capture_under(snapshots, tree, stop).map(drop).unwrap_err()
    };
    let yard = Yard::new();
    yard.put("a", "a");
    let snapshots = limited(&yard, 3, 100);
    let tree = snapshots.capture().unwrap();
    assert!(matches!(told(&snapshots, tree, &|| true), WorkspaceError::Stopped));
    assert!(matches!(told(&snapshots, TreeId(Digest::of(b"unknown")), &never), WorkspaceError::Failed(_)));
    yard.put("src/large", vec![b'x'; 200]);
    let unfit = told(&snapshots, tree, &never);
    assert!(matches!(&unfit, WorkspaceError::Unfit(why) if why.contains("`src`")), "{unfit}");
    fs::remove_dir_all(yard.inside("src")).unwrap();
    fs::create_dir_all(yard.inside(&"d/".repeat(300))).unwrap();
    let deep =
        told(&Snapshots::open(SnapshotSetup::new(yard.inside(""), yard.path("data"), vec![])).unwrap(), tree, &never);
    assert!(matches!(&deep, WorkspaceError::Unfit(why) if why.contains("deep")), "{deep}");
}

#[test]
fn nobody_else_may_look_into_what_is_kept() {
    let yard = Yard::new();
    yard.put("src/secret", "token");
    yard.put("src/large", vec![b'x'; 5 << 18]);
    let snapshots = yard.snapshots();
    let tree = snapshots.capture().unwrap();
    snapshots.lay(tree, &yard.path("data/checks/7/candidate")).unwrap();
    fn check(path: &Path) {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
        // What is below a copy's top is as in the workspace, and nobody gets there.
        if path.is_dir() && !path.ends_with("candidate") {
            fs::read_dir(path).unwrap().for_each(|entry| check(&entry.unwrap().path()));
        }
    }
    check(&yard.path("data"));
}
