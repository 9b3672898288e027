//! What consumers beside one another have seen at the head of their queue. One of them reads for all: who reaches for a
//! message leaves the others of the page to those who come next, and nobody reaches for what another is reaching for. What
//! was seen is soon looked at again, for something more urgent may have come; a consumer by itself looks each time.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use windlass_domain::{Instant, MessageId, Tenant};

use crate::record::StoredMessage;

/// What was seen longer ago than this is looked at again.
const FRESH: Duration = Duration::from_millis(5);

/// So many for each consumer are read at a time.
const AHEAD: usize = 4;

/// And not more than these, besides what is being taken.
const LARGEST_PAGE: usize = 64;

#[derive(Debug, Clone, Default)]
pub(super) struct Head(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    messages: VecDeque<StoredMessage>,
    at: Instant,
    /// Somebody is taking these right now.
    reached: BTreeSet<(Tenant, MessageId)>,
}

/// A message that its holder alone, of those beside it, reaches for, until this is dropped.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) message: StoredMessage,
    head: Weak<Mutex<Seen>>,
}

impl Head {
    /// How many messages are worth reading.
    pub(super) fn page(&self) -> usize {
        match Arc::strong_count(&self.0) {
            1 => 1,
            several => (several * AHEAD).min(LARGEST_PAGE) + lock(&self.0).reached.len(),
        }
    }

    /// Keeps what was read, but for what is being taken.
    pub(super) fn fill(&self, read: Vec<StoredMessage>, now: Instant) {
        let mut seen = lock(&self.0);
        let is_free = |message: &StoredMessage| !seen.reached.contains(&name(message));
        (seen.messages, seen.at) = (read.into_iter().filter(is_free).collect(), now);
    }

    /// One of those that were seen just now: `pick` says which, given how many there are.
    pub(super) fn choose(&self, now: Instant, pick: impl FnOnce(usize) -> usize) -> Option<Chosen> {
        let mut seen = lock(&self.0);
        if now - seen.at > FRESH {
            seen.messages.clear();
        }
        let index = match seen.messages.len() {
            0 => return None,
            count => pick(count),
        };
        let message = seen.messages.remove(index)?;
        seen.reached.insert(name(&message));
        Some(Chosen { message, head: Arc::downgrade(&self.0) })
    }
}

impl Drop for Chosen {
    fn drop(&mut self) {
        if let Some(head) = self.head.upgrade() {
            lock(&head).reached.remove(&name(&self.message));
        }
    }
}

fn name(message: &StoredMessage) -> (Tenant, MessageId) {
    (message.tenant.clone(), message.message_id)
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}
