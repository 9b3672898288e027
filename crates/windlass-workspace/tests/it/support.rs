//! Folders to try things in.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;
use windlass_domain::{Candidate, TreeId, Wall};
use windlass_workspace::{Error, Root, SnapshotLimits, SnapshotSetup, Snapshots, WorkspacePath};

use crate::capture::{Thing, everything};

pub const SECRET: &str = "nobody may read this";

/// When all copies are made.
pub const MADE: Wall = Wall::from_millis(1_900_000_000_000);

pub fn never() -> bool {
    false
}

/// Snapshots where it does not matter when a copy is made, and nobody stops it.
pub trait Unhurried {
    fn candidate(&self, baseline: TreeId) -> Result<Candidate, Error>;
    /// As a copy of a baseline.
    fn lay(&self, tree: TreeId, folder: &Path) -> Result<(), Error>;
    fn put_back(&self, tree: TreeId, paths: &[String], folder: &Path) -> Result<Vec<String>, Error>;
}

impl Unhurried for Snapshots {
    fn candidate(&self, baseline: TreeId) -> Result<Candidate, Error> {
        self.capture_under(baseline, &never)
    }

    fn lay(&self, tree: TreeId, folder: &Path) -> Result<(), Error> {
        self.materialise(tree, tree, folder, MADE, &never)
    }

    fn put_back(&self, tree: TreeId, paths: &[String], folder: &Path) -> Result<Vec<String>, Error> {
        self.restore(tree, paths, folder, MADE, &never)
    }
}

pub fn copy_folder(from: &Path, into: &Path) -> Result<(), Error> {
    windlass_workspace::copy_folder(from, into, &never)
}

/// A workspace, and beside it a folder with a secret that no path may reach.
pub struct Yard {
    folder: TempDir,
}

impl Yard {
    pub fn new() -> Self {
        let yard = Self { folder: TempDir::new().unwrap() };
        std::fs::create_dir(yard.inside("")).unwrap();
        std::fs::create_dir(yard.outside("")).unwrap();
        std::fs::write(yard.outside("secret"), SECRET).unwrap();
        yard
    }

    pub fn inside(&self, path: &str) -> PathBuf {
        self.folder.path().join("workspace").join(path)
    }

    pub fn outside(&self, path: &str) -> PathBuf {
        self.folder.path().join("workspace-evil").join(path)
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn root(&self) -> Root {
        Root::open(&self.inside("")).unwrap()
    }

    /// Folders as needed.
    pub fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        put(&self.inside(path), bytes);
    }

    pub fn link(&self, target: impl AsRef<Path>, path: &str) {
        symlink(target, self.inside(path)).unwrap();
    }

    pub fn snapshots(&self) -> Snapshots {
        self.snapshots_carrying(&[])
    }

    pub fn snapshots_carrying(&self, carry: &[&str]) -> Snapshots {
        Snapshots::open(SnapshotSetup {
            workspace: self.inside(""),
            data: self.path("data"),
            carry: carry.iter().map(ToString::to_string).collect(),
            limits: SnapshotLimits::default(),
        })
        .unwrap()
    }

    /// The files of a snapshot, folders aside, as a check would find them.
    pub fn files_of(&self, snapshots: &Snapshots, tree: TreeId) -> Vec<String> {
        let copy = TempDir::new_in(self.folder.path()).unwrap();
        snapshots.lay(tree, copy.path()).unwrap();
        let found = everything(copy.path()).into_iter().filter(|(_, thing)| *thing != Thing::Folder);
        found.map(|(path, _)| path.to_str().unwrap().to_owned()).collect()
    }

    /// A new empty folder.
    pub fn empty(&self, name: &str) -> PathBuf {
        let folder = self.path(name);
        std::fs::create_dir(&folder).unwrap();
        folder
    }
}

pub fn put(path: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

pub fn at(path: &str) -> WorkspacePath {
    WorkspacePath::parse(path).unwrap()
}

pub fn pipe(path: &Path) {
    rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::from_raw_mode(0o644)).unwrap();
}

/// Tells the other thread that the test is over, also when it fails.
pub struct Finished<'a>(pub &'a AtomicBool);

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
