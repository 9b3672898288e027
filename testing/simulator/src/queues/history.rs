//! What happened, in order, and what was in the store in the end. It is written down outside every process: nobody who
//! dies, stops or errs can take anything of it back.

use std::time::Duration;

use windlass_domain::{MessageId, OwnerId, Tenant};
use windlass_store::chain::Verified;
use windlass_store::{Commit, Committed, Delivery, StoredEvent};

use crate::executor::ProcessId;
use crate::fuse::Point;
use crate::queues::{Blow, QueuePlan};

#[derive(Debug, Clone)]
pub struct Record {
    /// On the world's clock, which nobody can set.
    pub at: Duration,
    pub process: ProcessId,
    pub what: What,
}

#[derive(Debug, Clone)]
pub enum What {
    /// A worker has started, and is this owner.
    Started {
        worker: u8,
        owner: OwnerId,
    },
    /// As the process asked for it, whatever the store was given, and what the process was told.
    Committed(Box<(Commit, Committed)>),
    /// The effect of a message, outside.
    Performed(Delivery),
    /// A client was told that its request is accepted.
    Accepted {
        request: u16,
    },
    Suffered {
        worker: u8,
        blow: Blow,
        point: Point,
    },
    /// A commit found no room on the disk.
    NoRoom,
    ClockSet {
        worker: Option<u8>,
        by_millis: i64,
    },
    /// Whoever raced for a use of a token has come to an end.
    Raced {
        token: u8,
        won: bool,
    },
    /// Nothing should lead here.
    Broken(String),
    /// It should have been over long ago.
    TimedOut,
}

#[derive(Debug, Clone)]
pub struct QueueHistory {
    pub plan: QueuePlan,
    pub records: Vec<Record>,
    pub tenants: Vec<TenantEnd>,
    /// How often a task was polled.
    pub polls: u64,
    /// Calls across the store's port.
    pub calls: u64,
    /// A digest of every call: who, when, where.
    pub trace: u64,
}

/// What a tenant has in the end.
#[derive(Debug, Clone)]
pub struct TenantEnd {
    pub tenant: Tenant,
    pub events: Vec<StoredEvent>,
    pub dead: Vec<MessageId>,
    pub chain: Verified,
}
