//! Rows as they are read. Payloads stay text, since most readers pass them on or decode them once; what a row was given is
//! what it gives back.

use windlass_domain::{MessageId, Seq, Taint, Wall};

use crate::commit::TimerName;
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
    pub mailbox: String,
    pub kind: String,
    pub version: u16,
    pub data: String,
    pub taint: Taint,
    pub priority: i32,
    pub not_before: Wall,
    pub enqueued_at: Wall,
    pub trace_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTimer {
    pub name: TimerName,
    pub due: Wall,
    pub mailbox: String,
    pub kind: String,
    pub version: u16,
    pub data: String,
    pub taint: Taint,
}
