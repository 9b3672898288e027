//! Changing files through the root. A file is replaced whole or not at all: written beside its place under a name
//! nobody can guess, synced, then renamed, and the folder synced too: a reader sees the old bytes or the new ones, and
//! when `write` has returned, whoever looks after a power cut sees the new. The store's own commit would not do instead
//! of the second sync: it may be on another file system, and even on the same one a sync of a log that only overwrites
//! itself need not take a rename with it.
//!
//! What stays uncertain: folders made on the way are durable with the last of them only where metadata is written in
//! order, as ext4, XFS and Btrfs do; a file system that cannot sync a folder is believed; and what commands write is
//! synced by nobody.

use std::ffi::OsStr;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, fchmod, fdatasync, fsync, mkdirat, unlinkat};
use rustix::io::Errno;

use crate::error::Error;
use crate::files::{OPEN_FOLDER, Temporary, names};
use crate::path::WorkspacePath;
use crate::root::{Missing, Place, Root, is_temporary};
use crate::stat::{Kind, Metadata};

impl Root {
    /// Creates or replaces a file, with the folders it needs. An existing file keeps its permissions.
    pub fn write(&self, path: &WorkspacePath, bytes: &[u8]) -> Result<(), Error> {
        let place = self.place(path, Missing::CreateFolders)?;
        self.check_unprotected(&place.folder, &place.name, path)?;
        let error = |errno| Error::from_errno(path.to_string(), errno);
        let mode = replaceable(&place, path)?;
        let mut temporary = Temporary::create(&place.folder).map_err(error)?;
        temporary.file.write_all(bytes).map_err(|source| Error::from_io(path.to_string(), source))?;
        if let Some(mode) = mode {
            fchmod(&temporary.file, Mode::from_raw_mode(mode)).map_err(error)?;
        }
        fdatasync(&temporary.file).map_err(error)?;
        temporary.rename(Path::new(&place.name)).map_err(error)?;
        sync_folder(&place.folder).map_err(error)
    }

    /// Whether `write` would be allowed here, as far as can be told without changing anything.
    pub fn check_write(&self, path: &WorkspacePath) -> Result<(), Error> {
        match self.place(path, Missing::Fail) {
            Ok(place) => {
                self.check_unprotected(&place.folder, &place.name, path)?;
                replaceable(&place, path).map(drop)
            }
            Err(Error::NotFound { .. }) => self.check_new_folder(path),
            Err(other) => Err(other),
        }
    }

    /// That the first missing folder on the way to `path` may be made.
    fn check_new_folder(&self, path: &WorkspacePath) -> Result<(), Error> {
        let mut here = self.open_beneath(&WorkspacePath::top(), OPEN_FOLDER)?;
        let mut so_far = PathBuf::new();
        for part in path.as_path().components() {
            so_far.push(part);
            match self.open_beneath(&WorkspacePath::from_relative(&so_far), OPEN_FOLDER) {
                Ok(inner) => here = inner,
                Err(Error::NotFound { .. }) => {
                    return self.check_unprotected(&here, part.as_os_str(), path);
                }
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    /// Removes a file, or a symlink and not what it leads to.
    pub fn remove(&self, path: &WorkspacePath) -> Result<(), Error> {
        let error = |errno| Error::from_errno(path.to_string(), errno);
        let Some(name) = path.as_path().file_name() else {
            return Err(Error::IsAFolder { path: path.to_string() });
        };
        let parent = WorkspacePath::from_relative(path.as_path().parent().unwrap_or(Path::new("")));
        let folder = self.open_beneath(&parent, OPEN_FOLDER)?;
        self.check_unprotected(&folder, name, path)?;
        unlinkat(&folder, Path::new(name), AtFlags::empty()).map_err(error)
    }

    pub fn create_folder(&self, path: &WorkspacePath) -> Result<(), Error> {
        self.create_folders(path.as_path(), path).map(drop)
    }

    /// Removes what a crash in the middle of `write` left beside `path`.
    pub fn sweep(&self, path: &WorkspacePath) -> Result<(), Error> {
        let place = match self.place(path, Missing::Fail) {
            Err(Error::NotFound { .. }) => return Ok(()),
            other => other?,
        };
        let error = |errno| Error::from_errno(path.to_string(), errno);
        for (name, kind) in names(&place.folder).map_err(error)? {
            if kind == Kind::File && is_temporary(&name) {
                self.check_unprotected(&place.folder, &name, path)?;
                unlinkat(&place.folder, Path::new(&name), AtFlags::empty()).map_err(error)?;
            }
        }
        Ok(())
    }

    /// Makes each missing folder on the way to `folder`, which is below the root, and opens the last.
    pub(crate) fn create_folders(&self, folder: &Path, path: &WorkspacePath) -> Result<OwnedFd, Error> {
        let mut made = PathBuf::new();
        let mut here = self.open_beneath(&WorkspacePath::top(), OPEN_FOLDER)?;
        for part in folder.components() {
            made.push(part);
            let so_far = WorkspacePath::from_relative(&made);
            here = match (self.open_beneath(&so_far, OPEN_FOLDER), part) {
                (Err(Error::NotFound { .. }), Component::Normal(name)) => {
                    self.make_folder(&here, name, &so_far, path)?
                }
                (other, _) => other?,
            };
        }
        Ok(here)
    }

    fn make_folder(
        &self,
        parent: &OwnedFd,
        name: &OsStr,
        so_far: &WorkspacePath,
        path: &WorkspacePath,
    ) -> Result<OwnedFd, Error> {
        self.check_unprotected(parent, name, path)?;
        match mkdirat(parent, Path::new(name), Mode::from_raw_mode(0o777)) {
            // Somebody else made it just now, or it is a symlink that leads nowhere, which opening it will say.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(other) => return Err(Error::from_errno(path.to_string(), other)),
        }
        self.open_beneath(so_far, OPEN_FOLDER)
    }
}

/// Makes the names in it durable, where the file system knows how.
fn sync_folder(folder: &OwnedFd) -> Result<(), Errno> {
    match fsync(folder) {
        Err(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS) => Ok(()),
        done => done,
    }
}

/// The permissions to keep; `None` where there is nothing yet.
fn replaceable(place: &Place, path: &WorkspacePath) -> Result<Option<u32>, Error> {
    let path = || path.to_string();
    match Metadata::at(&place.folder, Path::new(&place.name)) {
        Err(Errno::NOENT) => Ok(None),
        Err(other) => Err(Error::from_errno(path(), other)),
        Ok(metadata) => match metadata.kind {
            Kind::Folder => Err(Error::IsAFolder { path: path() }),
            Kind::Symlink | Kind::Other => Err(Error::NotAFile { path: path() }),
            // A rename would not ask the file for leave, as writing into it would.
            Kind::File if metadata.mode & 0o200 == 0 => Err(Error::ReadOnly { path: path() }),
            Kind::File => Ok(Some(metadata.mode & 0o777)),
        },
    }
}
