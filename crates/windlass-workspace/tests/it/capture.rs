//! Snapshots give back what they were given: bytes, executable bits, links, empty things and hard names; and leave out
//! what is not the agent's.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rustix::fs::inotify;
use windlass_domain::TreeId;
use windlass_workspace::{Change, ChangeKind, Error, SnapshotLimits, SnapshotSetup, Snapshots};

use crate::support::{Finished, Unhurried, Yard, pipe, put};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    File(Vec<u8>),
    Executable(Vec<u8>),
    Symlink(PathBuf),
    Folder,
}

/// Everything in a folder, found with `std` alone.
pub fn everything(folder: &Path) -> BTreeMap<PathBuf, Thing> {
    let mut found = BTreeMap::new();
    collect(folder, Path::new(""), &mut found);
    found
}

fn collect(folder: &Path, path: &Path, found: &mut BTreeMap<PathBuf, Thing>) {
    for entry in fs::read_dir(folder.join(path)).unwrap() {
        let entry = entry.unwrap();
        let path = path.join(entry.file_name());
        let metadata = entry.metadata().unwrap();
        let thing = if metadata.is_symlink() {
            Thing::Symlink(fs::read_link(entry.path()).unwrap())
        } else if metadata.is_dir() {
            collect(folder, &path, found);
            Thing::Folder
        } else if metadata.permissions().mode() & 0o100 != 0 {
            Thing::Executable(fs::read(entry.path()).unwrap())
        } else {
            Thing::File(fs::read(entry.path()).unwrap())
        };
        found.insert(path, thing);
    }
}

fn build(folder: &Path, things: &BTreeMap<PathBuf, Thing>) {
    for (path, thing) in things {
        let path = folder.join(path);
        // A path below a file or a link cannot be made; it is left out, and the folder is what it is.
        if fs::create_dir_all(path.parent().unwrap()).is_err() || path.symlink_metadata().is_ok() {
            continue;
        }
        let _ = match thing {
            Thing::File(bytes) => fs::write(&path, bytes),
            Thing::Executable(bytes) => {
                fs::write(&path, bytes).and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)))
            }
            Thing::Symlink(target) => symlink(target, &path),
            Thing::Folder => fs::create_dir(&path),
        };
    }
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let odd = prop::sample::select(vec![
        &b"a\nb"[..],
        b"\xff\xfe",
        b" ",
        b"\\",
        b"-rf",
        b"\xf0\x9f\xa6\x80",
        b"...",
        b"[x]*",
    ]);
    prop_oneof![
        "[a-c]{1,2}".prop_map(String::into_bytes),
        odd.prop_map(<[u8]>::to_vec),
        prop::collection::vec(any::<u8>().prop_filter("not a separator", |byte| !matches!(byte, 0 | b'/')), 1..6),
    ]
    .prop_filter("a plain name", |name| {
        !matches!(name.as_slice(), b"." | b".." | b".git" | b".gitignore") && !name.starts_with(b".windlass-tmp-")
    })
}

fn thing() -> impl Strategy<Value = Thing> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    prop_oneof![
        4 => bytes().prop_map(Thing::File),
        2 => bytes().prop_map(Thing::Executable),
        1 => name().prop_map(|target| Thing::Symlink(OsStr::from_bytes(&target).into())),
        1 => Just(Thing::Symlink("../../etc/passwd".into())),
        1 => Just(Thing::Folder),
    ]
}

fn things() -> impl Strategy<Value = BTreeMap<PathBuf, Thing>> {
    let path = prop::collection::vec(name(), 1..4)
        .prop_map(|names| names.iter().map(|name| OsStr::from_bytes(name)).collect::<PathBuf>());
    prop::collection::btree_map(path, thing(), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn capture_then_materialise_is_the_same_tree_and_has_the_same_id(things in things()) {
        let yard = Yard::new();
        build(&yard.inside(""), &things);
        let snapshots = yard.snapshots();
        let tree = snapshots.capture().unwrap();
        let copy = yard.empty("copy");
        snapshots.lay(tree, &copy).unwrap();
        prop_assert_eq!(everything(&yard.inside("")), everything(&copy));
        let again = Snapshots::open(SnapshotSetup {
            workspace: copy,
            data: yard.path("elsewhere"),
            carry: Vec::new(),
            limits: SnapshotLimits::default(),
        }).unwrap();
        prop_assert_eq!(again.capture().unwrap(), tree);
    }

    #[test]
    fn changes_are_exactly_the_paths_that_differ(before in plain_things(), after in plain_things()) {
        let yard = Yard::new();
        let take = |things: &BTreeMap<PathBuf, Thing>| {
            fs::remove_dir_all(yard.inside("")).unwrap();
            fs::create_dir(yard.inside("")).unwrap();
            build(&yard.inside(""), things);
            (yard.snapshots().capture().unwrap(), everything(&yard.inside("")))
        };
        let ((old, was), (new, is)) = (take(&before), take(&after));
        let found: BTreeSet<_> = yard.snapshots().changes(old, new).unwrap().into_iter().collect();
        prop_assert_eq!(found, differences(&was, &is));
    }
}

/// The same answer, worked out from the files alone. A folder is told of only when it is empty and the other side has
/// no folder there.
fn differences(was: &BTreeMap<PathBuf, Thing>, is: &BTreeMap<PathBuf, Thing>) -> BTreeSet<Change> {
    let empty = |map: &BTreeMap<PathBuf, Thing>, path: &Path| !map.keys().any(|other| other.parent() == Some(path));
    let mut found = BTreeSet::new();
    for path in was.keys().chain(is.keys()) {
        let mut tell = |kind| found.insert(Change { path: path.to_str().unwrap().to_owned(), kind });
        match (was.get(path), is.get(path)) {
            (old, new) if old == new => {}
            (Some(Thing::Folder), new) => {
                if empty(was, path) {
                    tell(ChangeKind::Removed);
                }
                if new.is_some() {
                    tell(ChangeKind::Added);
                }
            }
            (old, Some(Thing::Folder)) => {
                if empty(is, path) {
                    tell(ChangeKind::Added);
                }
                if old.is_some() {
                    tell(ChangeKind::Removed);
                }
            }
            (Some(_), Some(_)) => drop(tell(ChangeKind::Modified)),
            (Some(_), None) => drop(tell(ChangeKind::Removed)),
            (None, _) => drop(tell(ChangeKind::Added)),
        }
    }
    found
}

fn plain_things() -> impl Strategy<Value = BTreeMap<PathBuf, Thing>> {
    let path = prop::collection::vec("[a-c]", 1..4).prop_map(|names| names.iter().collect::<PathBuf>());
    prop::collection::btree_map(path, thing(), 0..12)
}

#[test]
fn the_runtimes_files_git_and_ignored_files_are_not_the_agents_work() {
    let yard = Yard::new();
    for path in [".plan.md", ".memo/a", ".scratch/a", ".trace/a", "output/a", ".git/config", "target/a", "src/x.log"] {
        yard.put(path, path);
    }
    for path in ["src/a", "src/output/a", "src/.scratch/a", "keep.log", ".github/a", "src/local.secret"] {
        yard.put(path, path);
    }
    yard.put(".gitignore", "/target\n*.log\n!keep.log\n\u{feff}\n[bad\n");
    yard.put("src/.gitignore", "*.secret\n");
    yard.put("excluded", "by the repository itself");
    yard.put(".git/info/exclude", "/excluded\n");
    yard.put("src/.windlass-tmp-0123456789abcdef", "left by a crash");
    yard.put("src/.windlass-tmp-fedcba9876543210/a", "a folder is never left");
    yard.put("src/.windlass-tmp-x", "nor such a name");
    let snapshots = yard.snapshots();
    let copy = yard.empty("copy");
    snapshots.lay(snapshots.capture().unwrap(), &copy).unwrap();
    let files: Vec<_> = everything(&copy)
        .into_iter()
        .filter(|(_, thing)| *thing != Thing::Folder)
        .map(|(path, _)| path.into_os_string().into_string().unwrap())
        .collect();
    assert_eq!(
        files,
        [
            ".github/a",
            ".gitignore",
            "keep.log",
            "src/.gitignore",
            "src/.scratch/a",
            "src/.windlass-tmp-fedcba9876543210/a",
            "src/.windlass-tmp-x",
            "src/a",
            "src/output/a"
        ]
    );
}

#[test]
fn rules_outside_the_workspace_have_no_say() {
    let yard = Yard::new();
    yard.put("a", "a");
    put(&yard.path(".gitignore"), "*");
    let snapshots = yard.snapshots();
    let copy = yard.empty("copy");
    snapshots.lay(snapshots.capture().unwrap(), &copy).unwrap();
    assert!(copy.join("a").exists());
}

#[test]
fn carried_paths_come_along_as_they_are_and_never_over_the_snapshot() {
    let yard = Yard::new();
    yard.put(".gitignore", "target\nnode_modules\n");
    yard.put("target/debug/app", "binary");
    yard.put("node_modules/left/index.js", "left");
    yard.put("src/a", "captured");
    yard.link("debug/app", "target/link");
    fs::set_permissions(yard.inside("target/debug/app"), fs::Permissions::from_mode(0o755)).unwrap();
    let snapshots = yard.snapshots_carrying(&["target", "src", "missing", "deep/missing"]);
    let tree = snapshots.capture().unwrap();
    yard.put("src/a", "changed since");
    yard.put("target/debug/app", "binary 2");
    let copy = yard.empty("copy");
    snapshots.lay(tree, &copy).unwrap();
    assert_eq!(fs::read(copy.join("src/a")).unwrap(), b"captured");
    assert_eq!(fs::read(copy.join("target/debug/app")).unwrap(), b"binary 2");
    assert_eq!(fs::read_link(copy.join("target/link")).unwrap(), Path::new("debug/app"));
    assert_eq!(fs::metadata(copy.join("target/debug/app")).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(!copy.join("node_modules").exists());
}

#[test]
fn carrying_something_outside_is_refused() {
    let yard = Yard::new();
    let setup = |carry: &str| SnapshotSetup {
        workspace: yard.inside(""),
        data: yard.path("data"),
        carry: vec![carry.to_owned()],
        limits: SnapshotLimits::default(),
    };
    for carry in ["../workspace-evil", "/etc", "a/../../workspace-evil"] {
        assert!(matches!(Snapshots::open(setup(carry)), Err(Error::Outside { .. })), "{carry}");
    }
    yard.link("../workspace-evil", "door");
    let snapshots = yard.snapshots_carrying(&["door/secret"]);
    let copy = yard.empty("copy");
    snapshots.lay(snapshots.capture().unwrap(), &copy).unwrap();
    assert_eq!(everything(&copy).into_values().collect::<Vec<_>>(), [Thing::Symlink("../workspace-evil".into())]);
}

#[test]
fn a_change_that_keeps_size_and_modification_time_is_seen() {
    let yard = Yard::new();
    yard.put("a", "one");
    let snapshots = yard.snapshots();
    let one = Opened::watch(&yard.inside("")).until_cached(&snapshots);
    let modified = fs::metadata(yard.inside("a")).unwrap().modified().unwrap();
    fs::write(yard.inside("a"), "two").unwrap();
    fs::File::options().write(true).open(yard.inside("a")).unwrap().set_modified(modified).unwrap();
    let two = Opened::watch(&yard.inside("")).until_cached(&snapshots);
    assert_ne!(one, two);
    fs::set_permissions(yard.inside("a"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_ne!(snapshots.capture().unwrap(), two);
}

#[test]
fn many_quick_changes_of_the_same_size_are_all_seen() {
    let yard = Yard::new();
    let snapshots = yard.snapshots();
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..200 {
        yard.put("a", format!("{round:03}"));
        assert!(seen.insert(snapshots.capture().unwrap()), "round {round} looked like an earlier one");
    }
}

#[test]
fn an_unchanged_file_is_not_opened_again_not_even_by_another_process() {
    let yard = Yard::new();
    for n in 0..50 {
        yard.put(&format!("src/{n}"), format!("{n}"));
    }
    let opened = Opened::watch(&yard.inside("src"));
    let snapshots = yard.snapshots();
    let tree = snapshots.capture().unwrap();
    assert_eq!(opened.since_last(), 50, "the watch works");
    assert_eq!(opened.until_cached(&snapshots), tree);
    assert_eq!(yard.snapshots().capture().unwrap(), tree);
    assert_eq!(opened.since_last(), 0);
    yard.put("src/7", "changed");
    opened.since_last();
    snapshots.capture().unwrap();
    assert_eq!(opened.since_last(), 1);
}

/// Counts the files that are opened in a folder.
pub struct Opened(rustix::fd::OwnedFd);

impl Opened {
    pub fn watch(folder: &Path) -> Self {
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
        inotify::add_watch(&watch, folder, inotify::WatchFlags::OPEN).unwrap();
        Self(watch)
    }

    /// Captures until no file is opened any more: files made in the very tick in which a capture began are read again.
    fn until_cached(&self, snapshots: &Snapshots) -> TreeId {
        loop {
            self.since_last();
            let tree = snapshots.capture().unwrap();
            if self.since_last() == 0 {
                return tree;
            }
        }
    }

    fn since_last(&self) -> usize {
        self.names().len()
    }

    /// The names of what was opened in the folder since they were last asked for.
    pub fn names(&self) -> Vec<String> {
        let mut buffer = [std::mem::MaybeUninit::uninit(); 16 * 1024];
        let mut events = inotify::Reader::new(&self.0, &mut buffer);
        let mut names = Vec::new();
        while let Ok(event) = events.next() {
            names.extend(event.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
        names
    }
}

#[test]
fn the_cache_is_not_believed_when_the_objects_are_gone() {
    let yard = Yard::new();
    yard.put("src/a", "a");
    let tree = yard.snapshots().capture().unwrap();
    fs::remove_dir_all(yard.path("data/objects")).unwrap();
    let snapshots = yard.snapshots();
    assert_eq!(snapshots.capture().unwrap(), tree);
    snapshots.lay(tree, &yard.empty("copy")).unwrap();
}

#[test]
fn a_damaged_or_missing_object_is_found_out() {
    let yard = Yard::new();
    yard.put("a", "precious");
    let snapshots = yard.snapshots();
    let tree = snapshots.capture().unwrap();
    let hex = windlass_domain::Digest::of(b"precious").to_string();
    let object = yard.path("data/objects").join(&hex[..2]).join(&hex[2..]);
    fs::set_permissions(&object, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&object, "poisoned").unwrap();
    let result = snapshots.lay(tree, &yard.empty("one"));
    assert!(matches!(result, Err(Error::Damaged { ref digest }) if *digest == hex), "{result:?}");
    fs::remove_file(&object).unwrap();
    assert!(matches!(snapshots.lay(tree, &yard.empty("two")), Err(Error::Damaged { .. })));
    assert_eq!(snapshots.capture().unwrap(), tree, "capturing again heals it");
    snapshots.lay(tree, &yard.empty("three")).unwrap();
}

#[test]
fn a_link_cannot_be_bent_in_the_store() {
    let yard = Yard::new();
    yard.link("target", "link");
    let snapshots = yard.snapshots();
    let tree = snapshots.capture().unwrap();
    let hex = windlass_domain::Digest::of(b"target").to_string();
    let object = yard.path("data/objects").join(&hex[..2]).join(&hex[2..]);
    fs::set_permissions(&object, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&object, "/etc/passwd").unwrap();
    assert!(matches!(snapshots.lay(tree, &yard.empty("copy")), Err(Error::Damaged { .. })));
}

#[test]
fn a_crash_in_the_middle_leaves_nothing_that_counts() {
    let yard = Yard::new();
    yard.put("a", "a");
    let tree = yard.snapshots().capture().unwrap();
    put(&yard.path("data/objects/.windlass-tmp-dead/half"), "half");
    let snapshots = yard.snapshots();
    assert!(!yard.path("data/objects/.windlass-tmp-dead").exists());
    assert_eq!(snapshots.capture().unwrap(), tree);
}

#[test]
fn only_an_empty_folder_is_filled() {
    let yard = Yard::new();
    let snapshots = yard.snapshots();
    let tree = snapshots.capture().unwrap();
    put(&yard.path("full/a"), "a");
    assert!(matches!(snapshots.lay(tree, &yard.path("full")), Err(Error::NotEmpty)));
}

#[test]
fn pipes_and_sockets_do_not_hold_a_capture_up() {
    let yard = Yard::new();
    pipe(&yard.inside("pipe"));
    pipe(&yard.inside(".gitignore"));
    let _socket = std::os::unix::net::UnixListener::bind(yard.inside("socket")).unwrap();
    yard.put("a", "a");
    let snapshots = yard.snapshots();
    let copy = yard.empty("copy");
    snapshots.lay(snapshots.capture().unwrap(), &copy).unwrap();
    assert_eq!(everything(&copy).into_keys().collect::<Vec<_>>(), [Path::new("a")]);
}

#[test]
fn a_data_folder_inside_the_workspace_is_not_captured_into_itself() {
    let yard = Yard::new();
    yard.put("a", "a");
    let data = yard.inside("state/data");
    let setup =
        SnapshotSetup { workspace: yard.inside(""), data, carry: Vec::new(), limits: SnapshotLimits::default() };
    let snapshots = Snapshots::open(setup).unwrap();
    let first = snapshots.capture().unwrap();
    assert_eq!(snapshots.capture().unwrap(), first);
}

#[test]
fn large_files_are_streamed_and_kept_whole() {
    let yard = Yard::new();
    let large: Vec<u8> = (0..6_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    yard.put("large", &large);
    let snapshots = yard.snapshots();
    let tree = snapshots.capture().unwrap();
    let copy = yard.empty("copy");
    snapshots.lay(tree, &copy).unwrap();
    assert!(fs::read(copy.join("large")).unwrap() == large);
    assert_eq!(snapshots.capture().unwrap(), tree);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the agent is a thread")]
fn capturing_while_files_change_does_not_fail() {
    let yard = Yard::new();
    let snapshots = yard.snapshots();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0_usize;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                round += 1;
                let folder = yard.inside(&format!("d{}", round % 3));
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join("f"), vec![b'x'; round % 5_000]).unwrap();
                if round.is_multiple_of(4) {
                    fs::remove_dir_all(&folder).unwrap();
                }
            }
        });
        let _finished = Finished(&done);
        for round in 0..100 {
            let tree = snapshots.capture().unwrap();
            snapshots.lay(tree, &yard.empty(&format!("copy{round}"))).unwrap();
        }
    });
}

#[test]
fn changes_name_what_was_added_removed_and_modified() {
    let yard = Yard::new();
    yard.put("same/deep", "same");
    yard.put("modified", "one");
    yard.put("removed/a", "a");
    yard.put("becomes", "a file");
    let snapshots = yard.snapshots();
    let before = snapshots.capture().unwrap();
    yard.put("modified", "two");
    fs::remove_dir_all(yard.inside("removed")).unwrap();
    fs::remove_file(yard.inside("becomes")).unwrap();
    yard.put("becomes/a", "folder");
    yard.put("new\nline", "odd");
    fs::create_dir(yard.inside("empty")).unwrap();
    let after = snapshots.capture().unwrap();
    let found: Vec<_> =
        snapshots.changes(before, after).unwrap().into_iter().map(|change| (change.path, change.kind)).collect();
    let expected = [
        ("becomes", ChangeKind::Removed),
        ("becomes/a", ChangeKind::Added),
        ("empty", ChangeKind::Added),
        ("modified", ChangeKind::Modified),
        ("new\\nline", ChangeKind::Added),
        ("removed/a", ChangeKind::Removed),
    ];
    assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)));
}
