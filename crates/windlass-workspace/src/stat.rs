//! What the kernel says about a file, in types that are the same on every machine.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Statx, StatxFlags, statx};
use rustix::io::Errno;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    File,
    Folder,
    Symlink,
    /// A pipe, socket or device.
    Other,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Symlink,
            _ => Self::Other,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    pub kind: Kind,
    pub size: u64,
    /// How many names it has.
    pub(crate) links: u32,
    /// Permission bits.
    pub mode: u32,
    pub identity: Identity,
    pub(crate) modified: Timestamp,
    pub(crate) changed: Timestamp,
}

/// Which file it is, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    pub(crate) device: (u32, u32),
    pub(crate) inode: u64,
}

/// Nanoseconds are kept apart, as the kernel keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Timestamp {
    pub seconds: i64,
    pub nanoseconds: u32,
}

impl Metadata {
    pub const fn is_executable(&self) -> bool {
        self.mode & 0o100 != 0
    }

    /// Of an open file.
    pub(crate) fn of(file: impl AsFd) -> Result<Self, Errno> {
        statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS).map(|stat| Self::from_statx(&stat))
    }

    /// Of a name in an open folder; of the symlink itself where it is one.
    pub(crate) fn at(folder: impl AsFd, name: &Path) -> Result<Self, Errno> {
        statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS).map(|stat| Self::from_statx(&stat))
    }

    fn from_statx(stat: &Statx) -> Self {
        let mode = u32::from(stat.stx_mode);
        Self {
            kind: FileType::from_raw_mode(mode).into(),
            size: stat.stx_size,
            links: stat.stx_nlink,
            mode: mode & 0o7777,
            identity: Identity { device: (stat.stx_dev_major, stat.stx_dev_minor), inode: stat.stx_ino },
            modified: Timestamp { seconds: stat.stx_mtime.tv_sec, nanoseconds: stat.stx_mtime.tv_nsec },
            changed: Timestamp { seconds: stat.stx_ctime.tv_sec, nanoseconds: stat.stx_ctime.tv_nsec },
        }
    }
}
