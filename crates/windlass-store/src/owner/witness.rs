//! Who can tell whether an owner is gone: its file lock where that proves something, its heartbeat otherwise. A lock that
//! is held outranks a silent heart: the process may hang, but what it started may still be at work, and taking its lease
//! would let two do the same thing.

use windlass_domain::Instant;

use crate::error::Error;
use crate::owner::{Abandoned, Judgement, LockState, Observer, OwnerLocks, OwnerRow};

#[derive(Debug, Clone)]
pub struct Witness {
    observer: Observer,
    locks: Option<OwnerLocks>,
}

impl Witness {
    pub const fn by_heartbeat(observer: Observer) -> Self {
        Self { observer, locks: None }
    }

    pub const fn by_lock_or_heartbeat(locks: OwnerLocks, observer: Observer) -> Self {
        Self { observer, locks: Some(locks) }
    }

    pub fn look(&mut self, row: &OwnerRow, now: Instant) -> Result<Judgement, Error> {
        let by_heartbeat = self.observer.look(row, now);
        let lock = self.locks.as_ref().map_or(Ok(LockState::Unknown), |locks| locks.state(row))?;
        Ok(match lock {
            _ if row.retired => by_heartbeat,
            LockState::Held => Judgement::Alive,
            LockState::Free => Judgement::Gone(Abandoned::last_seen(row)),
            LockState::Unknown => by_heartbeat,
        })
    }
}
