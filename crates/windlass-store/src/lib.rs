//! Durable truth: events in streams, messages, leases and their owners, nonces, timers, snapshots and blobs, behind one
//! write verb, `commit`. What it promises: an acknowledged commit survives a power cut, a commit whose guards do not hold
//! changes nothing, and several processes may share one data directory.
//!
//! `store` is the port; `providers` stand behind it; `conformance` is the suite each of them runs; `lease`, `owner`, `queue`,
//! `chain` and `blob` hold the domain verbs written over the port; `notifier` holds wake-ups, which may be lost; `moving` takes a
//! whole store from one provider to another; `search` ranks documents that it is handed, and stands apart. What is
//! written is decided elsewhere: but for `queue`, whose messages have a contract, nothing here reads a payload.

pub mod blob;
pub mod chain;
mod commit;
#[cfg(feature = "conformance")]
pub mod conformance;
mod delivery;
mod error;
pub mod lease;
pub mod moving;
mod notifier;
pub mod owner;
mod providers;
pub mod queue;
mod record;
pub mod search;
mod store;
mod stream;

pub use blob::{Blob, NewBlob, Swept};
pub use chain::{ChainHead, Link};
pub use commit::{
    Commit, Committed, Forgotten, LARGEST_COMMIT, MOST_PROMOTED, MailboxSeen, Marker, NewEvent, NewMessage, NewTimer,
    Nonce, Snapshot, TimerChange, TimerName,
};
pub use delivery::{Delivery, DeliveryChange, Takeover};
pub use error::Error;
pub use lease::{Epoch, Fence, LeaseChange, LeaseName, LeaseRow};
pub use notifier::{Elsewhere, LookElsewhere, Notifier, Subscription, Topic};
pub use owner::{Owner, OwnerLock, OwnerLocks, OwnerRow};
pub use providers::{postgres, sqlite};
pub use record::{
    Delayed, Depth, LeasedMessage, MOST_COUNTED, Next, Standing, StoredEvent, StoredMessage, StoredTimer, StreamHead,
};
pub use store::{Reply, Store};
pub use stream::{Position, StreamId};
