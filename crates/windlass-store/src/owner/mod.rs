//! Owners: processes that may hold leases. Each has one heartbeat, whatever the number of its leases, and a file lock that
//! lives exactly as long as the process and the sandboxes it started.

mod lifetime;
mod lock;
mod observer;
mod row;
mod witness;

pub use lifetime::{beat, register, retire};
pub use lock::{LockState, OwnerLock, OwnerLocks};
pub use observer::{Judgement, Observer};
pub use row::{AT_WORK, Abandoned, NewOwner, Owner, OwnerChange, OwnerRow};
pub use witness::Witness;
