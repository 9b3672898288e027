//! Durable truth: events in streams, messages, leases and their owners, nonces, timers, snapshots and blobs, behind one
//! write verb, `commit`. What it promises: an acknowledged commit survives a power cut, a commit whose guards do not hold
//! changes nothing, and several processes may share one data directory.
//!
//! `store` is the port; `providers` stand behind it; `conformance` is the suite each of them runs; `lease`, `owner` and
//! `blob` hold the domain verbs written over the port; `notifier` holds wake-ups, which may be lost. What is written is
//! decided elsewhere: nothing here reads a payload.

pub mod blob;
mod commit;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
pub mod lease;
mod notifier;
pub mod owner;
mod providers;
mod record;
mod store;
mod stream;

pub use blob::{Blob, NewBlob};
pub use commit::{
    Commit, Committed, LARGEST_COMMIT, Marker, NewEvent, NewMessage, NewTimer, Nonce, Snapshot, TimerChange, TimerName,
};
pub use error::Error;
pub use lease::{Epoch, Fence, LeaseChange, LeaseName, LeaseRow};
pub use notifier::{Elsewhere, LookElsewhere, Notifier, Subscription, Topic};
pub use owner::{Owner, OwnerLock, OwnerLocks, OwnerRow};
pub use providers::sqlite;
pub use record::{StoredEvent, StoredMessage, StoredTimer, StreamHead};
pub use store::{Reply, Store};
pub use stream::{Position, StreamId};
