//! Real disks that are full or read-only. Where the test may not make one (that takes a privilege), it says so; `faults` then
//! still shows what a failing disk does, call by call. With `WINDLASS_SMALL_DISK=must` it fails instead.

#![expect(clippy::disallowed_methods, reason = "the environment says whether a disk must be had")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::IFlags;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use windlass_domain::{Taint, Tenant, Wall};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Error, Store as _, blob};

use crate::executor::Executor;
use crate::promise::{Promise, kept};

/// A file system of its own in memory, of two megabytes.
struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let mounted = mount("tmpfs", folder.path(), "tmpfs", MountFlags::empty(), Some(c"size=2m"));
        match mounted {
            Ok(()) => Some(Self { folder }),
            Err(errno) => {
                let must = std::env::var("WINDLASS_SMALL_DISK").is_ok_and(|word| word == "must");
                assert!(!must, "no small disk can be made: {errno}");
                println!("SKIPPED, nothing was tested with a small disk: {errno}");
                None
            }
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        unmount(self.folder.path(), UnmountFlags::DETACH).expect("it was mounted");
    }
}

#[test]
fn a_full_disk_refuses_commits_and_accepts_them_again_when_there_is_room() {
    let Some(disk) = SmallDisk::mount() else { return };
    let data_dir = disk.folder.path().join("data");
    let executor = Executor::new();
    let store = SqliteStore::open(Options::new(&data_dir), executor.runtime()).expect("a store");
    let ballast = disk.folder.path().join("ballast");
    std::fs::write(&ballast, vec![1; 1 << 20]).expect("there is room for it");
    let commit = |index| executor.run(store.commit(Promise { worker: 0, index }.commit()));
    let full = (0..1_000).find_map(|index| commit(index).err().map(|error| (index, error)));
    let (first_refused, error) = full.expect("the disk becomes full");
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    assert!(first_refused > 2);
    // Still full, still said so, and what is there can be read.
    assert!(matches!(commit(first_refused), Err(Error::DiskFull { .. })));
    assert_eq!(executor.run(kept(&store, 1)).len() as u64, first_refused);
    let large = executor.run(blob::put(&store, &Tenant::local(), vec![7; 1 << 20], Taint::Auth, Wall::default()));
    assert!(matches!(large, Err(Error::DiskFull { .. })), "{large:?}");

    std::fs::remove_file(&ballast).expect("removed");
    commit(first_refused).expect("there is room again");
    assert_eq!(executor.run(kept(&store, 1)).len() as u64, first_refused + 1);
    drop(store);
    let store = SqliteStore::open(Options::new(&data_dir), executor.runtime()).expect("a store");
    executor.run(store.verify()).expect("sound");
    assert_eq!(executor.run(kept(&store, 1)).len() as u64, first_refused + 1);
}

#[test]
fn a_database_cannot_be_made_on_a_full_disk() {
    let Some(disk) = SmallDisk::mount() else { return };
    let ballast = disk.folder.path().join("ballast");
    let filled = std::fs::write(&ballast, vec![1; 4 << 20]);
    assert!(filled.is_err(), "the disk is smaller than that");
    let executor = Executor::new();
    let data_dir = disk.folder.path().join("data");
    let refusal = SqliteStore::open(Options::new(&data_dir), executor.runtime()).err();
    assert!(matches!(refusal, Some(Error::DiskFull { .. })), "{refusal:?}");
    std::fs::remove_file(&ballast).expect("removed");
    SqliteStore::open(Options::new(&data_dir), executor.runtime()).expect("there is room now");
}

/// Read-only for everybody, root too, until it is dropped.
struct ReadOnly {
    paths: Vec<std::path::PathBuf>,
}

impl ReadOnly {
    fn make(paths: &[&Path]) -> Self {
        for path in paths {
            let mode = if path.is_dir() { 0o500 } else { 0o400 };
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("ours");
            set_immutable(path, IFlags::IMMUTABLE);
        }
        Self { paths: paths.iter().map(|path| path.to_path_buf()).collect() }
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        for path in &self.paths {
            set_immutable(path, IFlags::empty());
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).expect("ours");
        }
    }
}

/// Permissions do not hold root back, but this does. Whoever may not set it is held back by permissions.
fn set_immutable(path: &Path, flag: IFlags) {
    let file = std::fs::File::open(path).expect("readable");
    let Ok(flags) = rustix::fs::ioctl_getflags(&file) else { return };
    if let Err(errno) = rustix::fs::ioctl_setflags(&file, (flags - IFlags::IMMUTABLE) | flag) {
        println!("{}: not made immutable: {errno}", path.display());
    }
}

fn can_write(folder: &Path) -> bool {
    std::fs::write(folder.join("probe"), b"").is_ok()
}

#[test]
fn a_read_only_folder_is_a_clear_error_and_nothing_is_touched() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("data");
    let executor = Executor::new();
    let store = SqliteStore::open(Options::new(&folder), executor.runtime()).expect("a store");
    executor.run(store.commit(Promise { worker: 0, index: 0 }.commit())).expect("a store that works");
    drop(store);
    let database = folder.join("windlass.db");
    let before = std::fs::read(&database).expect("readable");

    let refused_for = |paths: &[&Path]| {
        let read_only = ReadOnly::make(paths);
        if paths.contains(&folder.as_path()) && can_write(&folder) {
            println!("nothing can be made read-only here");
            return;
        }
        let refusal = SqliteStore::open(Options::new(&folder), executor.runtime()).err();
        assert!(matches!(refusal, Some(Error::ReadOnly { .. })), "{paths:?}: {refusal:?}");
        drop(read_only);
        assert!(std::fs::read(&database).expect("readable") == before, "{paths:?}: it was written to");
    };
    refused_for(&[&database]);
    refused_for(&[&database, &folder.join("open.lock"), &folder]);
    refused_for(&[&folder]);
    let store = SqliteStore::open(Options::new(&folder), executor.runtime()).expect("it may be written again");
    assert_eq!(executor.run(kept(&store, 1)).len(), 1);
}
