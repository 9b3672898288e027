//! An owner as the store keeps it. It is no tenant's: one process works for many.

use std::time::Duration;

use windlass_domain::{OwnerId, Wall};

use crate::lease::Epoch;

/// An owner whose heart has beaten within this time, by whoever's clock, is written for. It is long, because clocks differ; one that
/// slept for longer meets records that it cannot read, says so and stops.
pub const AT_WORK: Duration = Duration::from_secs(600);

/// Who registers. `host` and `boot_id` together say which running kernel it is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOwner {
    pub id: OwnerId,
    pub host: String,
    pub boot_id: String,
    pub pid: u32,
    /// What it can read of the journal: nothing that it cannot is written while it lives.
    pub level: u32,
}

/// One incarnation of an owner: an id that registers again, after a restart, is at the next epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    pub id: OwnerId,
    pub epoch: Epoch,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerChange {
    /// An id that is there already starts anew and loses its leases and deliveries: only one process at a time can hold the id's file
    /// lock, so whoever had it before is gone. Refused with `TooOld` where the journal holds what it cannot read.
    Register(NewOwner),
    /// Refused with `Gone` when this incarnation is retired or replaced.
    Beat(Owner),
    /// A clean end: its leases are free at once, and what was delivered to it is ready. An incarnation that is gone already is no error.
    Retire(Owner),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerRow {
    pub id: OwnerId,
    pub epoch: Epoch,
    pub host: String,
    pub boot_id: String,
    pub pid: u32,
    /// Counts heartbeats.
    pub beat: u64,
    /// For people.
    pub beat_at: Wall,
    pub retired: bool,
    pub level: u32,
}

/// That an incarnation of an owner is gone, last seen at this beat. Made by those who can know (`Observer`, `OwnerLocks`),
/// and checked once more in the commit that acts on it: an owner whose heart has beaten since is not gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned {
    owner: Owner,
    beat: u64,
}

impl Abandoned {
    pub(super) const fn last_seen(row: &OwnerRow) -> Self {
        Self { owner: Owner { id: row.id, epoch: row.epoch }, beat: row.beat }
    }

    pub const fn owner(&self) -> Owner {
        self.owner
    }

    pub const fn beat(&self) -> u64 {
        self.beat
    }
}
