//! The audit as people read it: seed 001 §2.5's events in the order in which they were committed.

use windlass_domain::Taint;
use windlass_store::queue::RuntimeAuditEvent;
use windlass_store::{Position, StoredEvent};

use super::heads::is_seal;
use crate::Error;
use crate::engine::Engine;

const PAGE: usize = 1_000;

#[derive(Debug, Clone, PartialEq)]
pub struct AuditRecord {
    pub position: Position,
    /// Of what the event is about.
    pub taint: Taint,
    pub event: RuntimeAuditEvent,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AuditPage {
    /// Oldest first.
    pub records: Vec<AuditRecord>,
    /// Where the next page begins; none after the last one.
    pub next: Option<Position>,
}

impl Engine {
    /// The same by the position's number.
    pub async fn audit_after(&self, after: u64) -> Result<AuditPage, Error> {
        self.audit(Position(after)).await
    }

    /// The audit's events after a position; a page may be empty and not be the last.
    pub async fn audit(&self, after: Position) -> Result<AuditPage, Error> {
        let rows = self.shared.store.events(&self.shared.tenant, after, PAGE).await?;
        let next = rows.last().filter(|_| rows.len() == PAGE).map(|row| row.position);
        // What this version cannot read, a later one may.
        let records = rows.iter().filter(|row| row.stream.kind() == "audit" && !is_seal(row)).filter_map(record);
        Ok(AuditPage { records: records.collect(), next })
    }
}

fn record(row: &StoredEvent) -> Option<AuditRecord> {
    let event = serde_json::from_str(&row.data).ok()?;
    Some(AuditRecord { position: row.position, taint: row.taint, event })
}
