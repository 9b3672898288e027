//! A lease as the store keeps it, and the two things that can happen to it. There is no deadline in it: whether its owner
//! still lives is asked of the owner's heartbeat (`owner::Observer`) or file lock (`owner::OwnerLocks`).

use std::fmt;
use std::sync::Arc;

use windlass_domain::OwnerId;

use crate::owner::{Abandoned, OwnerRow};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseName(Arc<str>);

impl LeaseName {
    pub fn new(kind: &str, id: impl fmt::Display) -> Self {
        Self(format!("{kind}/{id}").into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LeaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for LeaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many times something was taken. It never falls, also when nobody holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epoch(pub u64);

/// The proof of holding a lease that a commit carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    pub lease: LeaseName,
    pub owner: OwnerId,
    pub epoch: Epoch,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseChange {
    /// The lease goes to `owner`, at the next epoch.
    Take { lease: LeaseName, owner: OwnerId, claim: Claim },
    /// Refused with `Fenced` when it is not held so any more.
    Release(Fence),
}

/// Why a lease may be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Nobody holds it, or nobody ever did.
    Unheld,
    /// Its holder is gone. Refused with `LeaseHeld` when the lease has changed hands since, or the holder's heart has beaten.
    Abandoned { epoch: Epoch, holder: Abandoned },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRow {
    pub lease: LeaseName,
    pub epoch: Epoch,
    pub holder: Option<OwnerRow>,
}
