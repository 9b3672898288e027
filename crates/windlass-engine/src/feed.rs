//! A tenant's events as they were committed, for whoever follows all of them: from any position on, in order, none left out.

use std::time::Duration;

use windlass_domain::{Taint, Wall};
use windlass_store::{Position, StoredEvent, Subscription, Topic};

use crate::Error;
use crate::engine::Engine;

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    pub position: u64,
    pub at: Wall,
    /// What its stream is about, such as `task`.
    pub about: String,
    /// Which one.
    pub id: String,
    pub kind: String,
    pub version: u16,
    /// JSON.
    pub data: String,
    pub taint: Taint,
}

/// Hints that there may be more. Whoever has them first and looks then misses nothing.
pub struct Hints(Subscription);

impl Hints {
    /// Waits for a hint, `at_most` so long: one may be lost.
    pub async fn changed(&mut self, at_most: Duration) {
        self.0.changed(at_most).await;
    }
}

impl Engine {
    pub fn hints(&self) -> Hints {
        let topic = Topic::Events { tenant: self.shared.tenant.clone() };
        Hints(self.shared.store.notifier().subscribe(topic))
    }

    pub async fn events_after(&self, after: u64, limit: usize) -> Result<Vec<FeedEvent>, Error> {
        let rows = self.shared.store.events(&self.shared.tenant, Position(after), limit).await?;
        Ok(rows.into_iter().map(event).collect())
    }

    /// Where the last event is; 0 where there is none.
    pub async fn last_position(&self) -> Result<u64, Error> {
        let head = self.shared.store.chain_head(&self.shared.tenant).await?;
        Ok(head.map_or(0, |head| head.position.0))
    }
}

pub(crate) fn event(row: StoredEvent) -> FeedEvent {
    FeedEvent {
        position: row.position.0,
        at: row.at,
        about: row.stream.kind().to_owned(),
        id: row.stream.id().to_owned(),
        kind: row.kind,
        version: row.version,
        data: row.data,
        taint: row.taint,
    }
}
