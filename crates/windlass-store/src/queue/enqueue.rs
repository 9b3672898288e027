//! Putting a message into a queue: it becomes part of the commit that decided it, and so does its entry in the audit.
//! Nothing has happened before that commit has. Whoever decides nothing else, a front door say, leaves the commit to the
//! desk, and so does the audit of a refusal.

use windlass_domain::EventFamily as _;
use windlass_domain::queue::QueueMessage;

use crate::commit::{Commit, Committed, NewMessage};
use crate::queue::audit::enqueued;
use crate::queue::place::lane;
use crate::queue::refusal::Asked;
use crate::queue::{Desk, Error, Invalid, Queue, check};
use crate::stream::StreamId;

/// Adds `message` to `commit`, or says why it may not be. The same message id twice is refused by the store, as a
/// duplicate.
pub fn enqueue(commit: &mut Commit, queue: Queue, message: &QueueMessage) -> Result<(), Error> {
    check(queue, message).map_err(|why| Error::Invalid { message_id: message.message_id, why })?;
    if message.scope_id != commit.tenant {
        return Err(Error::OtherTenant { commit: commit.tenant.clone(), message: message.scope_id.clone() });
    }
    commit.messages.push(NewMessage {
        message_id: message.message_id,
        queue: lane(queue, message.placement.as_deref()),
        subject: message.task_id.map(|task| StreamId::new("task", task)),
        trace_id: message.trace_id,
        encoded: message.encode(),
        taint: message.taint,
        priority: message.urgency.priority(),
        not_before: None,
    });
    commit.events.push(enqueued(queue, message, commit.at));
    Ok(())
}

impl Desk<'_> {
    /// Adds `message` to `commit` and commits it.
    pub async fn enqueue(&self, mut commit: Commit, queue: Queue, message: &QueueMessage) -> Result<Committed, Error> {
        let asked = Asked::to_enqueue(&commit.tenant, queue, message);
        let outcome = match enqueue(&mut commit, queue, message) {
            Ok(()) => self.store.commit(commit).await.map_err(Error::from),
            Err(refusal) => Err(refusal),
        };
        self.audited(&asked, outcome).await
    }
}

/// As `enqueue`, for what follows from a message that was taken: its trace is the same, and it is no less tainted, whatever its
/// sender says.
pub fn follow(commit: &mut Commit, cause: &QueueMessage, queue: Queue, message: &QueueMessage) -> Result<(), Error> {
    if message.trace_id != cause.trace_id {
        return Err(Error::Invalid { message_id: message.message_id, why: Invalid::OtherTrace });
    }
    let taint = message.taint.join(cause.taint);
    enqueue(commit, queue, &QueueMessage { taint, ..message.clone() })
}
