//! Whether a file is what it was: for whoever has read one, and looks before they rely on it again.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    changed: (i64, i64),
    length: u64,
}

impl Stamp {
    /// None: there is no file.
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = path.metadata().ok()?;
        let changed = (metadata.mtime(), metadata.mtime_nsec());
        Some(Self { inode: metadata.ino(), changed, length: metadata.len() })
    }
}
