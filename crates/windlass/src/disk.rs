//! The disk that the data directory is on, and `[limits]` in `windlass.toml`: how much of it must stay free.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use windlass_engine::{Disk, LeastRoom, Space};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoomConfig {
    pub min_free_bytes: Option<u64>,
    pub min_free_percent: Option<u8>,
}

impl RoomConfig {
    pub const fn least(self) -> LeastRoom {
        LeastRoom { bytes: self.min_free_bytes, percent: self.min_free_percent }
    }

    pub fn objection(self) -> Option<String> {
        let is_out = self.min_free_percent.is_some_and(|percent| percent > 90);
        is_out.then(|| "`min_free_percent` must be at most 90".to_owned())
    }
}

pub struct DataDisk(PathBuf);

impl DataDisk {
    pub fn new(data_dir: &Path) -> Self {
        Self(data_dir.to_owned())
    }
}

impl Disk for DataDisk {
    fn space(&self) -> std::io::Result<Space> {
        let found = rustix::fs::statvfs(&self.0)?;
        Ok(Space {
            free: found.f_bavail.saturating_mul(found.f_frsize),
            total: found.f_blocks.saturating_mul(found.f_frsize),
        })
    }
}

/// Why nothing new is taken, where that is so.
pub fn shortage(data_dir: &Path, config: RoomConfig) -> Option<String> {
    let space = DataDisk::new(data_dir).space().ok()?;
    config.least().is_short(space, false).then(|| config.least().shortage(space))
}
