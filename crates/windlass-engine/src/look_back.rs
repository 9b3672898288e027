//! What happened, from the newest on: a tenant's records before a position, those that somebody looks for, a page at a time. And where a
//! conversation lies among them.

use windlass_domain::{Seq, SessionId, Wall};
use windlass_store::{Position, StoredEvent, StreamId};

use crate::Error;
use crate::engine::Engine;
use crate::feed::{FeedEvent, event};

/// Records that are read in one go.
const SLICE: usize = 100;
/// Positions that are gone back over in one go: as many as there are records at first, and more where other tenants have most of them.
const STRETCH: u64 = 100;
const LONGEST_STRETCH: u64 = 6_400;
/// For one page, records that are looked at, and stretches: what is looked for may be far back, or nowhere.
const MOST_LOOKED_AT: usize = 10_000;
const MOST_STRETCHES: usize = 200;
/// What is found may weigh so much; one record is on the page, whatever it weighs.
const HEAVIEST: usize = 4 << 20;
/// A conversation's first records: it is opened, something reached it, somebody said something.
const FIRST: usize = 8;
const SAID: &str = "user.said";

/// A page of what was looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looked {
    /// Newest first.
    pub events: Vec<FeedEvent>,
    /// The next page is what stands before this position; none where nothing does. A page may be empty and not be the last.
    pub next: Option<u64>,
    /// Where the tenant's last record was.
    pub last: u64,
}

/// Where a conversation lies among what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub began: u64,
    /// When it had its newest record.
    pub last_at: Wall,
    /// The words that it began with.
    pub first_words: Option<String>,
}

impl Engine {
    /// The records before `before`, or all of them, that are `wanted` and belong to `whole`, where one is named: `most` of them.
    pub async fn look_back(
        &self,
        before: Option<u64>,
        most: usize,
        whole: Option<&str>,
        mut wanted: impl FnMut(&FeedEvent) -> bool + Send,
    ) -> Result<Looked, Error> {
        let last = self.last_position().await?;
        let mut page = Looked { last, ..Looked::default() };
        let mut end = before.unwrap_or(u64::MAX).min(last + 1);
        let (mut looked_at, mut weight, mut stretch) = (0, 0, STRETCH);
        for _ in 0..MOST_STRETCHES {
            if end <= 1 {
                return Ok(page);
            }
            let begin = end.saturating_sub(stretch + 1);
            let rows = self.between(begin, end).await?;
            stretch = match rows.len() {
                0..25 => (stretch * 2).min(LONGEST_STRETCH),
                _ => (stretch / 2).max(STRETCH),
            };
            for row in rows.into_iter().rev() {
                let event = event(row);
                let is_full = page.events.len() == most || looked_at == MOST_LOOKED_AT;
                let is_wanted = !is_full && wanted(&event) && self.is_part(&event, whole).await?;
                if is_full || (is_wanted && weight > 0 && weight + event.data.len() > HEAVIEST) {
                    page.next = Some(end);
                    return Ok(page);
                }
                end = event.position;
                looked_at += 1;
                if is_wanted {
                    weight += event.data.len();
                    page.events.push(event);
                }
            }
            end = begin + 1;
        }
        page.next = Some(end);
        Ok(page)
    }

    async fn is_part(&self, event: &FeedEvent, whole: Option<&str>) -> Result<bool, Error> {
        let Some(whole) = whole else { return Ok(true) };
        Ok(self.belongs_to(&event.about, &event.id).await?.iter().any(|id| id == whole))
    }

    /// Those whose positions lie between the two.
    async fn between(&self, after: u64, before: u64) -> Result<Vec<StoredEvent>, Error> {
        let (mut rows, mut last): (Vec<StoredEvent>, _) = (Vec::new(), Position(after));
        loop {
            let found = self.shared.store.events(&self.shared.tenant, last, SLICE).await?;
            let is_all = found.len() < SLICE || found.last().is_some_and(|row| row.position.0 >= before);
            rows.extend(found.into_iter().take_while(|row| row.position.0 < before));
            match rows.last() {
                Some(row) if !is_all => last = row.position,
                _ => return Ok(rows),
            }
        }
    }

    /// None where nothing was said in it yet.
    pub async fn span(&self, session: SessionId) -> Result<Option<Span>, Error> {
        let (store, tenant) = (&self.shared.store, &self.shared.tenant);
        let stream = StreamId::new("session", session);
        let rows = store.stream(tenant, &stream, Seq(0), FIRST).await?;
        let Some((first, last)) = rows.first().zip(rows.last()) else { return Ok(None) };
        let head = store.head(tenant, &stream).await?;
        let newest = match head.0 > last.seq.0 {
            true => store.stream(tenant, &stream, Seq(head.0 - 1), 1).await?.pop(),
            false => None,
        };
        let words = |row: &StoredEvent| {
            let said = serde_json::from_str::<serde_json::Value>(&row.data).ok()?;
            Some(said["words"].as_str()?.to_owned())
        };
        Ok(Some(Span {
            began: first.position.0,
            last_at: newest.map_or(last.at, |row| row.at),
            first_words: rows.iter().find(|row| row.kind == SAID).and_then(words),
        }))
    }
}
