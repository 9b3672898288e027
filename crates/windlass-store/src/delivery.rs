//! One message in the hands of one consumer. A delivery is to a message what a fence is to a lease: its number rises each
//! time the message is taken and never falls, so a consumer that lost its message without noticing can neither ack nor
//! return it. Like a lease it has no deadline: it lasts as long as its owner lives.

use windlass_domain::{MessageId, OwnerId, Wall};

use crate::owner::Abandoned;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delivery {
    pub message_id: MessageId,
    pub owner: OwnerId,
    /// The message's first delivery is number 1.
    pub number: u32,
}

/// What can happen to a message in a queue with several consumers. What is done with a delivery is refused with
/// `StaleDelivery` when it is not the message's present one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryChange {
    /// The message goes to `owner`. Refused with `NotReady` when it cannot be taken so.
    Lease { message: MessageId, owner: OwnerId, from: Option<Takeover> },
    /// A delayed message need not wait for its time. Refused with `NotReady` when it is not delayed.
    Hasten(MessageId),
    /// It is done: the message is gone for good.
    Ack(Delivery),
    /// It is given back: ready at once, or delayed.
    Nack { delivery: Delivery, not_before: Option<Wall> },
    /// Nobody takes it any more, until a person retries it.
    Dead { delivery: Delivery, reason: String },
    /// A dead letter is ready again, and its deliveries so far count no more. Refused with `Gone` when it is not dead.
    Retry(MessageId),
    /// A dead letter is gone for good. Refused with `Gone` when it is not dead.
    Drop(MessageId),
}

impl DeliveryChange {
    pub(crate) const fn reason_bytes(&self) -> usize {
        match self {
            Self::Dead { reason, .. } => reason.len(),
            Self::Lease { .. }
            | Self::Hasten(_)
            | Self::Ack(_)
            | Self::Nack { .. }
            | Self::Retry(_)
            | Self::Drop(_) => 0,
        }
    }
}

/// A delivery whose holder is gone. That is looked at once more in the commit: a holder whose heart has beaten since is
/// not gone, and keeps its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Takeover {
    pub holder: Abandoned,
    pub number: u32,
}
