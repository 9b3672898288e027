//! A folder of the runtime's own that is there whole or not at all. It is filled beside its place under a name that nobody knows,
//! synced, and renamed; taking it away begins with its name. So whoever finds the name finds everything, also after a power cut,
//! and can go on in it.
//!
//! A folder under such a name is locked by the process that fills or removes it; one whose lock is free was left by a crash, and
//! whoever makes a folder beside it removes it.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, Mode, RenameFlags, flock, fsync, mkdirat, renameat_with, syncfs};
use rustix::io::Errno;

use crate::error::Error;
use crate::files::{OPEN_FOLDER, make_private_folder, names, temporary_name};
use crate::path::shown;
use crate::remove::remove_folder;
use crate::root::is_temporary;
use crate::stat::{Kind, Metadata};

/// What there was to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    Made,
    /// Somebody had made it before, and it is as they left it.
    Found,
}

/// `fill` gets an empty folder.
pub fn make_whole<E: From<Error>>(folder: &Path, fill: impl FnOnce(&Path) -> Result<(), E>) -> Result<Whole, E> {
    let parent = parent_of(folder)?;
    make_private_folder(parent).map_err(|error| Error::ours(shown(parent), error))?;
    remove_leftovers(parent)?;
    if is_folder(folder)? {
        return Ok(Whole::Found);
    }
    let making = Making::begin(parent)?;
    fill(&making.path)?;
    Ok(making.finish(folder)?)
}

/// Removes a folder so that nobody ever finds half of it. One that is not there is gone already.
pub fn take_away(folder: &Path) -> Result<(), Error> {
    let aside = parent_of(folder)?.join(temporary_name());
    // Whoever sweeps meanwhile lets it be; without the lock the two of them only do the same.
    let _lock = open_folder(folder).ok().filter(lock);
    match renameat_with(CWD, folder, CWD, &aside, RenameFlags::NOREPLACE) {
        Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(failed(folder, errno)),
        Ok(()) => remove_folder(&aside),
    }
}

/// Removes what a crash left in `parent`, a folder in which others are made and taken away.
pub fn remove_leftovers(parent: &Path) -> Result<(), Error> {
    let found = match open_folder(parent) {
        Err(Errno::NOENT) => return Ok(()),
        opened => opened.and_then(names).map_err(|errno| failed(parent, errno))?,
    };
    let left = found.iter().filter(|(name, kind)| *kind == Kind::Folder && is_temporary(name));
    left.map(|(name, _)| parent.join(name)).try_for_each(|path| remove_if_dead(&path))
}

fn remove_if_dead(folder: &Path) -> Result<(), Error> {
    match open_folder(folder) {
        Err(Errno::NOENT) => Ok(()),
        // Nobody fills a folder that cannot be opened: it was an agent's, and half removed.
        Err(Errno::ACCESS) => remove_folder(folder),
        Err(errno) => Err(failed(folder, errno)),
        Ok(opened) if lock(&opened) => remove_folder(folder),
        Ok(_) => Ok(()),
    }
}

/// A folder on its way. Unless it is finished it disappears again.
struct Making {
    path: PathBuf,
    folder: OwnedFd,
}

impl Making {
    fn begin(parent: &Path) -> Result<Self, Error> {
        loop {
            let path = parent.join(temporary_name());
            mkdirat(CWD, &path, Mode::from_raw_mode(0o700)).map_err(|errno| failed(parent, errno))?;
            if let Some(folder) = claim(&path) {
                return Ok(Self { path, folder });
            }
        }
    }

    fn finish(self, folder: &Path) -> Result<Whole, Error> {
        // One sync for all files: a sync for each would wait as often as there are files.
        syncfs(&self.folder).map_err(|errno| failed(folder, errno))?;
        match renameat_with(CWD, &self.path, CWD, folder, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Ok(Whole::Found),
            Err(errno) => return Err(failed(folder, errno)),
        }
        let parent = parent_of(folder)?;
        open_folder(parent).and_then(fsync).map_err(|errno| failed(parent, errno))?;
        Ok(Whole::Made)
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        // Under its own name it is no longer here; what cannot be removed is found by whoever comes next.
        let _ = remove_folder(&self.path);
    }
}

/// Locks a folder just made, unless a sweeping process was quicker and took it for a dead one.
fn claim(path: &Path) -> Option<OwnedFd> {
    let folder = open_folder(path).ok().filter(lock)?;
    let (here, there) = (Metadata::of(&folder).ok()?, Metadata::at(CWD, path).ok()?);
    (here.identity == there.identity).then_some(folder)
}

fn lock(folder: &OwnedFd) -> bool {
    flock(folder.as_fd(), FlockOperation::NonBlockingLockExclusive).is_ok()
}

fn open_folder(folder: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(folder, OPEN_FOLDER | rustix::fs::OFlags::NOFOLLOW, Mode::empty())
}

fn is_folder(folder: &Path) -> Result<bool, Error> {
    match Metadata::at(CWD, folder) {
        Ok(found) => Ok(found.kind == Kind::Folder),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(failed(folder, errno)),
    }
}

fn parent_of(folder: &Path) -> Result<&Path, Error> {
    folder.parent().ok_or_else(|| Error::BadPath { path: shown(folder), reason: "it has no folder above it" })
}

fn failed(folder: &Path, errno: Errno) -> Error {
    Error::ours(shown(folder), errno.into())
}
