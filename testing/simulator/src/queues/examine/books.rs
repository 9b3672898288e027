//! The queues as they must be, kept by an accountant who sees every commit that was acknowledged: which message stands
//! where, in whose hands, and when each heart last beat. Rules walk through the commits and compare.

use std::collections::BTreeMap;
use std::time::Duration;

use windlass_domain::queue::QueueMessage;
use windlass_domain::{EventFamily as _, MessageId, OwnerId, Taint, Tenant, TraceId, Wall};
use windlass_store::owner::OwnerChange;
use windlass_store::{Commit, DeliveryChange, NewMessage};

use crate::queues::errand::Errand;
use crate::queues::{QueueHistory, Record, What};

#[derive(Debug, Default)]
pub struct Books {
    pub messages: BTreeMap<MessageId, Kept>,
    pub by_errand: BTreeMap<Errand, MessageId>,
    pub beats: BTreeMap<OwnerId, Duration>,
}

#[derive(Debug)]
pub struct Kept {
    pub tenant: Tenant,
    pub queue: String,
    pub errand: Errand,
    pub trace: TraceId,
    pub taint: Taint,
    pub deliveries: u32,
    pub standing: Standing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Ready,
    Delayed(Wall),
    Held { by: OwnerId, since: Duration },
    Dead,
    Done,
    Dropped,
}

impl Books {
    /// Shows `look` every commit, and the books as they stood before it; returns them as they stand in the end.
    pub fn walk<'a>(history: &'a QueueHistory, mut look: impl FnMut(&Self, &'a Record, &'a Commit)) -> Self {
        let mut books = Self::default();
        for record in &history.records {
            if let What::Committed(both) = &record.what {
                look(&books, record, &both.0);
                books.enter(record.at, &both.0);
            }
        }
        books
    }

    fn enter(&mut self, at: Duration, commit: &Commit) {
        for change in &commit.owners {
            match change {
                OwnerChange::Register(new) => {
                    self.beats.insert(new.id, at);
                    self.free(new.id);
                }
                OwnerChange::Beat(owner) => drop(self.beats.insert(owner.id, at)),
                OwnerChange::Retire(owner) => self.free(owner.id),
            }
        }
        for message in &commit.messages {
            self.enqueue(&commit.tenant, message);
        }
        for change in &commit.deliveries {
            self.change(at, change);
        }
        if let Some(now) = commit.promote {
            let due = |standing| matches!(standing, Standing::Delayed(time) if time <= now);
            let due = self.messages.values_mut().filter(|kept| due(kept.standing));
            due.for_each(|kept| kept.standing = Standing::Ready);
        }
    }

    fn free(&mut self, owner: OwnerId) {
        let held = |standing| matches!(standing, Standing::Held { by, .. } if by == owner);
        let held = self.messages.values_mut().filter(|kept| held(kept.standing));
        held.for_each(|kept| kept.standing = Standing::Ready);
    }

    fn enqueue(&mut self, tenant: &Tenant, message: &NewMessage) {
        let (id, errand) = (message.message_id, errand_of(message));
        self.by_errand.insert(errand, id);
        let kept = Kept {
            tenant: tenant.clone(),
            queue: message.queue.clone(),
            errand,
            trace: message.trace_id,
            taint: message.taint,
            deliveries: 0,
            standing: Standing::Ready,
        };
        self.messages.insert(id, kept);
    }

    fn change(&mut self, at: Duration, change: &DeliveryChange) {
        let Some(kept) = self.messages.get_mut(&message_of(change)) else { return };
        kept.standing = match change {
            DeliveryChange::Lease { owner, .. } => {
                kept.deliveries += 1;
                Standing::Held { by: *owner, since: at }
            }
            DeliveryChange::Ack(_) => Standing::Done,
            DeliveryChange::Nack { not_before: Some(time), .. } => Standing::Delayed(*time),
            DeliveryChange::Nack { not_before: None, .. } | DeliveryChange::Retry(_) | DeliveryChange::Hasten(_) => {
                Standing::Ready
            }
            DeliveryChange::Dead { .. } => Standing::Dead,
            DeliveryChange::Drop(_) => Standing::Dropped,
        };
    }
}

pub fn errand_of(message: &NewMessage) -> Errand {
    let encoded = &message.encoded;
    let message = QueueMessage::decode(encoded.kind, encoded.version, encoded.data.get());
    message.expect("written a moment ago").content.parse().expect("every message is an errand")
}

pub const fn message_of(change: &DeliveryChange) -> MessageId {
    match change {
        DeliveryChange::Ack(delivery)
        | DeliveryChange::Nack { delivery, .. }
        | DeliveryChange::Dead { delivery, .. } => delivery.message_id,
        DeliveryChange::Lease { message, .. }
        | DeliveryChange::Retry(message)
        | DeliveryChange::Drop(message)
        | DeliveryChange::Hasten(message) => *message,
    }
}
