//! A program that stays what it was: opened once, and executed through its descriptor. Whoever upgrades or removes the
//! file meanwhile does not change what a running owner starts; the two ends of a link are always the same build.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
    path::Path,
};

use rustix::fs::{Mode, OFlags, open};

#[derive(Debug)]
pub(crate) struct Program {
    file: OwnedFd,
}

impl Program {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { file })
    }

    /// The file at this path, if it is still the same.
    pub(crate) fn is_still_at(&self, path: &Path) -> bool {
        let identity = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
        match (rustix::fs::fstat(&self.file), rustix::fs::stat(path)) {
            (Ok(own), Ok(there)) => identity(own) == identity(there),
            _ => false,
        }
    }

    /// For one child to inherit.
    pub(crate) fn descriptor(&self) -> io::Result<OwnedFd> {
        self.file.try_clone()
    }
}

/// The path of an inherited program, wherever there is a `/proc`, the sandbox's own included: what it leads to needs no
/// mount there.
pub(crate) fn path_to(descriptor: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd())
}
