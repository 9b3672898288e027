//! The audit as people read it: seed 001 §2.5's events in the order in which they were committed.

use windlass_domain::Taint;
use windlass_store::queue::RuntimeAuditEvent;
use windlass_store::{Position, StoredEvent};

use super::heads::is_seal;
use crate::Error;
use crate::engine::Engine;

/// Records that are looked at for a page, and in one go.
const PAGE: usize = 1_000;
const SLICE: usize = 100;

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
    /// The audit's events after a position: so many at most, of as many records as are looked at for one page. A page may be empty and not
    /// be the last.
    pub async fn audit_page(&self, after: u64, most: usize) -> Result<AuditPage, Error> {
        let mut page = AuditPage { records: Vec::new(), next: None };
        let (mut last, mut looked_at) = (Position(after), 0);
        while looked_at < PAGE {
            let slice = SLICE.min(PAGE - looked_at);
            let rows = self.shared.store.events(&self.shared.tenant, last, slice).await?;
            let is_last = rows.len() < slice;
            looked_at += rows.len();
            for row in &rows {
                // It is certain only now that there is more.
                if page.records.len() == most {
                    page.next = Some(last);
                    return Ok(page);
                }
                last = row.position;
                page.records.extend(told(row));
            }
            if is_last {
                return Ok(page);
            }
        }
        page.next = Some(last);
        Ok(page)
    }

    /// As many as there are in a thousand records.
    pub async fn audit(&self, after: Position) -> Result<AuditPage, Error> {
        self.audit_page(after.0, PAGE).await
    }
}

/// What this version cannot read, a later one may.
fn told(row: &StoredEvent) -> Option<AuditRecord> {
    if row.stream.kind() != "audit" || is_seal(row) {
        return None;
    }
    record(row)
}

fn record(row: &StoredEvent) -> Option<AuditRecord> {
    let event = serde_json::from_str(&row.data).ok()?;
    Some(AuditRecord { position: row.position, taint: row.taint, event })
}
