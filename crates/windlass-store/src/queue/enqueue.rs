//! Putting a message into a queue: it becomes part of the commit that decided it, and so does its entry in the audit.
//! Nothing has happened before that commit has.

use windlass_domain::EventFamily as _;
use windlass_domain::queue::QueueMessage;

use crate::commit::{Commit, NewMessage};
use crate::queue::audit::enqueued;
use crate::queue::place::lane;
use crate::queue::{Error, Invalid, LARGEST_MESSAGE, Queue, check};
use crate::stream::StreamId;

/// Adds `message` to `commit`, or says why it may not be. The same message id twice is refused by the store, as a
/// duplicate.
pub fn enqueue(commit: &mut Commit, queue: Queue, message: &QueueMessage) -> Result<(), Error> {
    let invalid = |why| Error::Invalid { message_id: message.message_id, why };
    if message.scope_id != commit.tenant {
        return Err(Error::OtherTenant { commit: commit.tenant.clone(), message: message.scope_id.clone() });
    }
    check(queue, message).map_err(invalid)?;
    let encoded = message.encode();
    let (bytes, most) = (encoded.data.get().len(), LARGEST_MESSAGE);
    if bytes > most {
        return Err(invalid(Invalid::TooLarge { bytes, most }));
    }
    commit.messages.push(NewMessage {
        message_id: message.message_id,
        queue: lane(queue, message.placement.as_deref()),
        subject: message.task_id.map(|task| StreamId::new("task", task)),
        trace_id: message.trace_id,
        encoded,
        taint: message.taint,
        priority: message.urgency.priority(),
        not_before: None,
    });
    commit.events.push(enqueued(queue, message, commit.at));
    Ok(())
}

/// The same for what follows from a message that was taken: its trace is the same, and it is no less tainted, whatever its
/// sender says.
pub fn follow(commit: &mut Commit, cause: &QueueMessage, queue: Queue, message: &QueueMessage) -> Result<(), Error> {
    if message.trace_id != cause.trace_id {
        return Err(Error::Invalid { message_id: message.message_id, why: Invalid::OtherTrace });
    }
    let taint = message.taint.join(cause.taint);
    enqueue(commit, queue, &QueueMessage { taint, ..message.clone() })
}
