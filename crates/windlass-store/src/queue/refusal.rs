//! What a queue refuses is in the audit, and nowhere else: the commit that was refused left nothing, so the entry is a
//! commit of its own, on the chain of whoever asked; what is put aside when it is found is audited where that is done. Losing a race for a message is no refusal, and neither is trouble with
//! the disk. The text of what was refused is never part of the entry.

use serde_json::{Map, json};
use windlass_domain::queue::QueueMessage;
use windlass_domain::{MessageId, Taint, Tenant, TraceId, Wall};

use crate::commit::{Commit, NewEvent};
use crate::queue::audit::{Actor, AuditType, RuntimeAuditEvent};
use crate::queue::{Desk, Error, Leased, Queue};
use crate::record::StoredMessage;
use crate::store::Store;

/// Names that a stranger chose may be part of a reason; a longer one is cut.
const LONGEST_REASON: usize = 400;

/// What was asked of a queue, by whom and about what.
#[derive(Debug, Clone)]
pub struct Asked {
    pub event_type: AuditType,
    pub verb: &'static str,
    pub actor: Actor,
    /// Whoever asks, in whose audit it is.
    pub tenant: Tenant,
    pub queue: String,
    pub trace_id: TraceId,
    pub message_id: Option<MessageId>,
    pub taint: Taint,
}

impl Asked {
    /// `tenant` would commit it, whosever the message says it is.
    pub fn to_enqueue(tenant: &Tenant, queue: Queue, message: &QueueMessage) -> Self {
        Self {
            event_type: AuditType::Enqueue,
            verb: "enqueue",
            actor: message.sender.into(),
            tenant: tenant.clone(),
            queue: queue.name().to_owned(),
            trace_id: message.trace_id,
            message_id: Some(message.message_id),
            taint: message.taint,
        }
    }

    /// Something was to be done with a message in hand.
    pub fn with(leased: &Leased, tenant: &Tenant, verb: &'static str) -> Self {
        Self {
            event_type: AuditType::Dequeue,
            verb,
            actor: leased.queue.into(),
            tenant: tenant.clone(),
            queue: leased.queue.name().to_owned(),
            trace_id: leased.message.trace_id,
            message_id: Some(leased.delivery.message_id),
            taint: leased.message.taint,
        }
    }

    /// This one was found in its queue and is put aside.
    pub(super) fn to_lease(queue: Queue, stored: &StoredMessage) -> Self {
        Self {
            event_type: AuditType::Dequeue,
            verb: "lease",
            actor: queue.into(),
            tenant: stored.tenant.clone(),
            queue: queue.name().to_owned(),
            trace_id: stored.trace_id,
            message_id: Some(stored.message_id),
            taint: stored.taint,
        }
    }

    pub(super) fn refused(&self, word: &str, reason: &str, at: Wall) -> NewEvent {
        let details = [("queue", json!(self.queue)), ("verb", json!(self.verb)), ("refusal", json!(word))];
        let event = RuntimeAuditEvent {
            event_type: self.event_type,
            trace_id: self.trace_id,
            message_id: self.message_id,
            scope_id: self.tenant.clone(),
            actor: self.actor,
            decision: Some("refused".to_owned()),
            reason: Some(shortened(reason)),
            details: Map::from_iter(details.map(|(key, value)| (key.to_owned(), value))),
            created_at: at,
        };
        event.on(&self.queue, self.taint)
    }
}

pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_REASON) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Hands on what came of what was asked; a refusal is in the audit by then. One that cannot be put there is an error of the
/// store's, and was refused all the same.
pub(super) async fn audited<T>(
    store: &dyn Store,
    at: Wall,
    asked: &Asked,
    outcome: Result<T, Error>,
) -> Result<T, Error> {
    if let Err(error) = &outcome
        && let Some(word) = error.refusal()
    {
        let mut commit = Commit::unfenced(asked.tenant.clone(), at);
        commit.events.push(asked.refused(word, &error.to_string(), at));
        store.commit(commit).await?;
    }
    outcome
}

impl Desk<'_> {
    /// The same for whoever commits by itself what this desk has no verb for: an ack within a bigger commit, say.
    pub async fn audited<T>(&self, asked: &Asked, outcome: Result<T, Error>) -> Result<T, Error> {
        audited(self.store, self.runtime.wall(), asked, outcome).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_cut_between_characters() {
        assert_eq!(shortened("short"), "short");
        let cut = shortened(&"ü".repeat(LONGEST_REASON + 1));
        assert_eq!((cut.chars().count(), cut.ends_with('…')), (LONGEST_REASON + 1, true));
    }
}
