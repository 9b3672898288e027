//! The few calls everything here is made of: one name in one open folder, never following a symlink. Whoever holds the
//! folder's descriptor has it, whatever is renamed around it meanwhile.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

use crate::layout::{TEMPORARY_DIGITS, TEMPORARY_PREFIX};
use crate::stat::{Kind, Metadata};

/// Nesting beyond this is an accident or an attack; the limit keeps recursion and open descriptors bounded.
pub(crate) const DEEPEST: usize = 256;

pub(crate) const OPEN_FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC).union(OFlags::RDONLY);

/// `NONBLOCK`, so that opening a pipe nobody writes to returns; it means nothing for a regular file.
pub(crate) const OPEN_FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

const CREATE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

pub(crate) fn open_folder(folder: impl AsFd, name: &Path) -> Result<OwnedFd, Errno> {
    openat(folder, name, OPEN_FOLDER | OFlags::NOFOLLOW, Mode::empty())
}

/// A regular file, or `None` where the name is something else.
pub(crate) fn open_file(folder: impl AsFd, name: &Path) -> Result<Option<(File, Metadata)>, Errno> {
    match openat(folder, name, OPEN_FILE | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(file) => regular(file),
        Err(Errno::LOOP | Errno::NXIO) => Ok(None),
        Err(other) => Err(other),
    }
}

pub(crate) fn regular(file: OwnedFd) -> Result<Option<(File, Metadata)>, Errno> {
    let metadata = Metadata::of(&file)?;
    Ok((metadata.kind == Kind::File).then(|| (File::from(file), metadata)))
}

/// Every name in a folder, in byte order. What vanishes meanwhile is not there.
pub(crate) fn names(folder: impl AsFd) -> Result<Vec<(OsString, Kind)>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder.as_fd())? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => match Metadata::at(&folder, Path::new(name)) {
                Ok(metadata) => metadata.kind,
                Err(Errno::NOENT) => continue,
                Err(other) => return Err(other),
            },
            known => known.into(),
        };
        found.push((name.to_owned(), kind));
    }
    found.sort_unstable();
    Ok(found)
}

/// Makes a folder of the runtime's own, and those above it: nobody else's to look into, whatever the umask.
pub(crate) fn make_private_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Removes whatever the name is, a folder with all that is in it.
pub(crate) fn remove_all(folder: impl AsFd, name: &Path) -> Result<(), Errno> {
    remove_below(folder, name, 0)
}

fn remove_below(folder: impl AsFd, name: &Path, depth: usize) -> Result<(), Errno> {
    match unlinkat(&folder, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) if depth < DEEPEST => {}
        done => return done,
    }
    let inner = open_folder(&folder, name)?;
    for (child, _) in names(&inner)? {
        remove_below(&inner, Path::new(&child), depth + 1)?;
    }
    unlinkat(&folder, name, AtFlags::REMOVEDIR)
}

/// A file that has no name of its own yet. Unless it is renamed into place it disappears again.
pub(crate) struct Temporary<'a, Folder: AsFd> {
    folder: &'a Folder,
    name: String,
    pub file: File,
}

impl<'a, Folder: AsFd> Temporary<'a, Folder> {
    /// For the agent, with the permissions that the umask leaves.
    pub fn create(folder: &'a Folder) -> Result<Self, Errno> {
        Self::create_as(folder, Mode::from_raw_mode(0o666))
    }

    /// For the runtime alone.
    pub fn create_private(folder: &'a Folder) -> Result<Self, Errno> {
        Self::create_as(folder, Mode::from_raw_mode(0o600))
    }

    /// For the agent, under a temporary name that was written down before.
    pub fn create_named(folder: &'a Folder, name: &str) -> Result<Self, Errno> {
        let file = openat(folder, name, CREATE, Mode::from_raw_mode(0o666))?;
        Ok(Self { folder, name: name.to_owned(), file: File::from(file) })
    }

    fn create_as(folder: &'a Folder, permissions: Mode) -> Result<Self, Errno> {
        loop {
            let name = temporary_name();
            match openat(folder, name.as_str(), CREATE, permissions) {
                Ok(file) => {
                    return Ok(Self { folder, name, file: File::from(file) });
                }
                Err(Errno::EXIST) => {}
                Err(other) => return Err(other),
            }
        }
    }

    /// It stays, under the name that nobody knows but the caller.
    pub fn keep(mut self) {
        self.name.clear();
    }

    pub fn rename(mut self, to: &Path) -> Result<(), Errno> {
        renameat(self.folder, self.name.as_str(), self.folder, to)?;
        self.name.clear();
        Ok(())
    }
}

impl<Folder: AsFd> Drop for Temporary<'_, Folder> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            // Best effort: the failure that brought us here is what the caller hears about.
            let _ = unlinkat(self.folder, self.name.as_str(), AtFlags::empty());
        }
    }
}

/// Nobody can guess it and put something in its place. These names never outlive the call, hence are no part of a
/// simulation's history and need no seed.
pub(crate) fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let random = RandomState::new().hash_one((COUNT.fetch_add(1, Ordering::Relaxed), std::process::id()));
    format!("{TEMPORARY_PREFIX}{random:0TEMPORARY_DIGITS$x}")
}
