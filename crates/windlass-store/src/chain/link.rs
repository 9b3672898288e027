//! What a chain is made of. The bytes that are digested are the same for every provider: each row's numbers at full width,
//! each text with its length before it, so that no two lists of rows have the same bytes.

use windlass_domain::{Digest, Seq, Taint, Tenant, Wall};

use crate::record::StoredEvent;
use crate::stream::{Position, StreamId};

/// Where a tenant's chain stands: the last row of its last commit, and the digest there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainHead {
    pub position: Position,
    pub digest: Digest,
}

/// A row of the chain; the last one of its commit holds the digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub event: StoredEvent,
    pub digest: Option<Digest>,
}

/// What is digested of an event.
pub(crate) struct Row<'a> {
    pub position: Position,
    pub stream: &'a StreamId,
    pub seq: Seq,
    pub kind: &'a str,
    pub version: u16,
    pub taint: Taint,
    pub at: Wall,
    pub data: &'a str,
}

/// What stands before the first commit. It differs from tenant to tenant, so that one's rows are no other's.
pub(crate) fn genesis(tenant: &Tenant) -> Digest {
    Digest::of(b"windlass chain 1\0").chain(tenant.as_str().as_bytes())
}

pub(crate) fn write_row(bytes: &mut Vec<u8>, row: &Row<'_>) {
    // A provider stores no greater numbers, and gives back what it stored.
    let stored = |number: u64| number.min(i64::MAX.unsigned_abs());
    for number in [row.position.0, row.seq.0, row.at.as_millis()] {
        bytes.extend(stored(number).to_be_bytes());
    }
    bytes.extend(row.version.to_be_bytes());
    for text in [row.taint.as_str(), row.stream.as_str(), row.kind, row.data] {
        bytes.extend((text.len() as u64).to_be_bytes());
        bytes.extend(text.as_bytes());
    }
}
