//! Putting a message into a queue and taking it at once, in the same commit: for whoever does itself what it asks for, and
//! wants another to go on with it should it not live to be done. Nobody else ever sees such a message ready.

use windlass_domain::OwnerId;
use windlass_domain::queue::QueueMessage;

use crate::commit::Commit;
use crate::delivery::{Delivery, DeliveryChange};
use crate::queue::audit::dequeued;
use crate::queue::{Desk, Error, Leased, Queue, enqueue};

/// As `enqueue`, and the message goes to `owner`. What is returned holds once `commit` has happened.
pub fn enqueue_taken(
    commit: &mut Commit,
    queue: Queue,
    message: &QueueMessage,
    owner: OwnerId,
) -> Result<Delivery, Error> {
    enqueue(commit, queue, message)?;
    let message_id = message.message_id;
    commit.deliveries.push(DeliveryChange::Lease { message: message_id, owner, from: None });
    commit.events.push(dequeued(queue, message, owner, commit.at));
    Ok(Delivery { message_id, owner, number: 1 })
}

impl Desk<'_> {
    /// The message that `enqueue_taken` gave out as `delivery`, once its commit has happened.
    pub fn taken(&self, queue: Queue, message: QueueMessage, delivery: Delivery) -> Leased {
        self.hand_over(queue, message, delivery, delivery.number)
    }
}
