//! An owner's file lock: `owners/<id>.lock` in the data directory, locked as long as the owner's process or anything that
//! inherited the descriptor lives. The sandbox's init is given a duplicate, so a free lock says that the whole tree is
//! gone, at once and without a heartbeat. It proves something only on the same host (one that was started anew since has
//! nothing left of what ran before); elsewhere, and where the file is missing, the answer is "unknown" and the heartbeat
//! decides. Hosts are told apart by name, so those that share a store must not share a name.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use windlass_domain::OwnerId;

use crate::error::Error;
use crate::owner::{NewOwner, OwnerRow};

/// The locks of one data directory, as seen from one running kernel.
#[derive(Debug, Clone)]
pub struct OwnerLocks {
    folder: PathBuf,
    host: String,
    boot_id: String,
}

/// Held until it and every duplicate of its descriptor are closed.
#[derive(Debug)]
pub struct OwnerLock {
    file: File,
    path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockState {
    /// The owner, or something it started, lives.
    Held,
    /// The owner and all that it started are gone.
    Free,
    /// Another host, or no such file.
    Unknown,
}

impl OwnerLocks {
    /// As seen from this machine, as it has been since it was started.
    pub fn here(data_dir: &Path) -> Result<Self, Error> {
        let read = |path: &str| match std::fs::read_to_string(path) {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(error) => Err(Error::from_io(Path::new(path), &error)),
        };
        let host = read("/proc/sys/kernel/hostname")?;
        Ok(Self::new(data_dir, host, read("/proc/sys/kernel/random/boot_id")?))
    }

    pub fn new(data_dir: &Path, host: impl Into<String>, boot_id: impl Into<String>) -> Self {
        Self { folder: data_dir.join("owners"), host: host.into(), boot_id: boot_id.into() }
    }

    pub fn new_owner(&self, id: OwnerId, pid: u32) -> NewOwner {
        NewOwner {
            id,
            host: self.host.clone(),
            boot_id: self.boot_id.clone(),
            pid,
            level: windlass_domain::JOURNAL_LEVEL,
        }
    }

    /// Take it before the owner is registered: from then on others may ask.
    pub fn hold(&self, owner: OwnerId) -> Result<OwnerLock, Error> {
        let path = self.path(owner);
        let attempt = self.create_folder().and_then(|()| match self.create_locked(owner) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => open_locked(&path),
            created => created,
        });
        match attempt {
            Ok(file) => Ok(OwnerLock { file, path }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(Error::Busy { path }),
            Err(error) => Err(Error::from_io(&path, &error)),
        }
    }

    pub fn state(&self, row: &OwnerRow) -> Result<LockState, Error> {
        if row.host != self.host {
            return Ok(LockState::Unknown);
        }
        // This machine has been started anew since: nothing that ran before is left.
        if row.boot_id != self.boot_id {
            return Ok(LockState::Free);
        }
        let path = self.path(row.id);
        match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(LockState::Unknown),
            Err(error) => Err(Error::from_io(&path, &error)),
            // Shared, so that two who ask at the same time do not take each other for the owner.
            Ok(file) => match flock(&file, FlockOperation::NonBlockingLockShared) {
                Ok(()) => Ok(LockState::Free),
                Err(rustix::io::Errno::WOULDBLOCK) => Ok(LockState::Held),
                Err(errno) => Err(Error::from_io(&path, &errno.into())),
            },
        }
    }

    fn path(&self, owner: OwnerId) -> PathBuf {
        self.folder.join(format!("{owner}.lock"))
    }

    fn create_folder(&self) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)
    }

    /// Locked first and named afterwards: a file that can be found and is free was never merely about to be locked.
    fn create_locked(&self, owner: OwnerId) -> io::Result<File> {
        let unnamed = self.folder.join(format!("{owner}.new"));
        let file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&unnamed)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let named = renameat_with(CWD, &unnamed, CWD, self.path(owner), RenameFlags::NOREPLACE);
        if named.is_err() {
            std::fs::remove_file(&unnamed)?;
        }
        named?;
        Ok(file)
    }
}

fn open_locked(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).open(path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

impl OwnerLock {
    /// A descriptor for the sandbox's init. It must survive `exec` there, which is for the sandbox to arrange.
    pub fn try_clone(&self) -> Result<OwnedFd, Error> {
        let clone = self.file.try_clone().map_err(|error| Error::from_io(&self.path, &error))?;
        Ok(clone.into())
    }

    /// For a clean end, after the owner has been retired. Without it the file stays, which costs nothing but a name.
    pub fn remove(self) -> Result<(), Error> {
        std::fs::remove_file(&self.path).map_err(|error| Error::from_io(&self.path, &error))
    }
}

impl AsFd for OwnerLock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
