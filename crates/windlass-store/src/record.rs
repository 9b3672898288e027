//! Rows as they are read. Payloads stay text, since most readers pass them on or decode them once; what a row was given is
//! what it gives back.

use windlass_domain::{MessageId, OwnerId, Seq, Taint, Tenant, TraceId, Wall};

use crate::commit::TimerName;
use crate::delivery::Delivery;
use crate::owner::OwnerRow;
use crate::stream::{Position, StreamId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub position: Position,
    pub stream: StreamId,
    pub seq: Seq,
    pub kind: String,
    pub version: u16,
    pub data: String,
    pub taint: Taint,
    pub at: Wall,
}

/// A stream and its last record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamHead {
    pub stream: StreamId,
    pub head: Seq,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    pub message_id: MessageId,
    pub tenant: Tenant,
    pub queue: String,
    pub subject: Option<StreamId>,
    pub trace_id: TraceId,
    pub kind: String,
    pub version: u16,
    pub data: String,
    pub taint: Taint,
    pub priority: i32,
    pub enqueued_at: Wall,
    /// How often it was leased.
    pub deliveries: u32,
    /// As many of them as there were when a person last retried it: they count no more.
    pub forgiven: u32,
    pub standing: Standing,
}

impl StoredMessage {
    /// Why it is a dead letter; nothing where it is none.
    pub fn died_of(&self) -> Option<&str> {
        match &self.standing {
            Standing::Dead { reason, .. } => Some(reason),
            Standing::Ready | Standing::Delayed { .. } | Standing::Leased { .. } => None,
        }
    }

    /// The deliveries that count.
    pub const fn attempts(&self) -> u32 {
        self.deliveries.saturating_sub(self.forgiven)
    }
}

/// What can be done with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It may be taken.
    Ready,
    /// It may be taken once it has been promoted, and that only from this time on.
    Delayed {
        not_before: Wall,
    },
    Leased {
        owner: OwnerId,
        at: Wall,
    },
    /// Nobody takes it; a person retries or drops it.
    Dead {
        reason: String,
        at: Wall,
    },
}

/// The head of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// One of each tenant in turn, beginning after the one that was served last; of a tenant's messages the one with the
    /// highest priority, then the oldest.
    pub ready: Vec<StoredMessage>,
    /// Delayed messages, of whatever queue, can be promoted.
    pub due: bool,
}

/// A message that somebody holds, and who.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedMessage {
    pub message: StoredMessage,
    pub delivery: Delivery,
    pub holder: OwnerRow,
}

/// Delayed messages, of whatever queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delayed {
    /// As many as can be promoted now; not counted beyond `MOST_PROMOTED`.
    pub due: usize,
    /// When the next of the others is due.
    pub next: Option<Wall>,
}

/// Whoever asks how deep a queue is wants to know whether it is deep, and not to wait until a million are counted.
pub const MOST_COUNTED: u64 = 10_000;

/// How many messages are in a queue, in all its lanes; neither is counted beyond `MOST_COUNTED`. Delayed and dead ones are
/// not counted at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    pub ready: u64,
    pub leased: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTimer {
    pub tenant: Tenant,
    pub name: TimerName,
    pub due: Wall,
    pub queue: String,
    pub kind: String,
    pub version: u16,
    pub data: String,
    pub taint: Taint,
}
