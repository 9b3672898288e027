//! A message is in one pair of hands at a time: it is taken when nobody has it or from the very one who had it; done with
//! only by whoever has it then, which whoever was stopped and woken has not; and touched by its own tenant only.

use std::collections::BTreeMap;

use windlass_domain::OwnerId;
use windlass_store::{Commit, Delivery, DeliveryChange};

use crate::executor::ProcessId;
use crate::queues::examine::books::{Books, Kept, Standing, message_of};
use crate::queues::{QueueHistory, Record, What};

pub fn check(history: &QueueHistory) -> Vec<String> {
    let owners: BTreeMap<ProcessId, OwnerId> = history.records.iter().filter_map(owner).collect();
    let mut complaints = Vec::new();
    Books::walk(history, |books, record, commit| {
        for message in &commit.messages {
            if books.messages.contains_key(&message.message_id) {
                complaints.push(format!("{} was accepted a second time", message.message_id));
            }
        }
        let owner = owners.get(&record.process).copied();
        let found = judge(books, commit, owner);
        complaints.extend(found.map(|what| format!("process {} {what} at {:?}", record.process.0, record.at)));
    });
    complaints
}

fn owner(record: &Record) -> Option<(ProcessId, OwnerId)> {
    match record.what {
        What::Started { owner, .. } => Some((record.process, owner)),
        _ => None,
    }
}

/// Only the first change of a message in a commit is held against the books: a second follows from it.
fn judge(books: &Books, commit: &Commit, owner: Option<OwnerId>) -> Option<String> {
    let change = commit.deliveries.first()?;
    let kept = books.messages.get(&message_of(change))?;
    if kept.tenant != commit.tenant {
        return Some(format!("of {} touched a message of {}", commit.tenant, kept.tenant));
    }
    match change {
        DeliveryChange::Lease { owner, from, .. } => {
            let may_be_taken = match from {
                None => kept.standing == Standing::Ready,
                Some(from) => is_held(kept, from.holder.owner().id, from.number) && *owner != from.holder.owner().id,
            };
            (!may_be_taken).then(|| format!("took {}, which was {:?}", kept.errand, kept.standing))
        }
        DeliveryChange::Ack(delivery)
        | DeliveryChange::Nack { delivery, .. }
        | DeliveryChange::Dead { delivery, .. } => settle(kept, delivery, owner),
        DeliveryChange::Hasten(_) => {
            let is_delayed = matches!(kept.standing, Standing::Delayed(_));
            (!is_delayed).then(|| format!("hastened {}, which was not delayed", kept.errand))
        }
        DeliveryChange::Retry(_) | DeliveryChange::Drop(_) => {
            (kept.standing != Standing::Dead).then(|| format!("raised {}, which was not dead", kept.errand))
        }
    }
}

fn settle(kept: &Kept, delivery: &Delivery, owner: Option<OwnerId>) -> Option<String> {
    let errand = kept.errand;
    if owner != Some(delivery.owner) {
        return Some(format!("gave back what was in other hands: {errand}"));
    }
    let has_it = is_held(kept, delivery.owner, delivery.number);
    (!has_it).then(|| format!("settled delivery {} of {errand}, but had it no longer", delivery.number))
}

fn is_held(kept: &Kept, owner: OwnerId, number: u32) -> bool {
    kept.deliveries == number && matches!(kept.standing, Standing::Held { by, .. } if by == owner)
}
