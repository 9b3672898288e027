//! Nothing accepted is lost, nothing is done twice, and what was acknowledged is in the store: each accepted message and
//! each that follows from it has its effect exactly once, or is a dead letter that somebody can read.

use std::collections::{BTreeMap, BTreeSet};

use windlass_domain::MessageId;
use windlass_store::DeliveryChange;

use crate::queues::errand::{EFFECT, Errand};
use crate::queues::examine::books::{Books, Standing};
use crate::queues::scene::tenant;
use crate::queues::{QueueHistory, Request, What};

pub fn check(history: &QueueHistory) -> Vec<String> {
    let books = Books::walk(history, |_, _, _| {});
    let effects = effects(history);
    let mut complaints: Vec<String> = effects
        .iter()
        .filter(|(_, times)| **times > 1)
        .map(|((_, errand), times)| format!("{errand} was done {times} times"))
        .collect();
    complaints.extend(missing(history));
    complaints.extend(strangers(history, &effects));
    complaints.extend(performed(history, &books));
    let accepted: BTreeSet<u16> = history.records.iter().filter_map(accepted).collect();
    for request in history.plan.requests() {
        for message in 0..request.messages {
            complaints.extend(follow(history, request, message, accepted.contains(&request.number), &books, &effects));
        }
    }
    complaints
}

type Effects = BTreeMap<(windlass_domain::Tenant, Errand), usize>;

fn accepted(record: &crate::queues::Record) -> Option<u16> {
    match record.what {
        What::Accepted { request } => Some(request),
        _ => None,
    }
}

fn effects(history: &QueueHistory) -> Effects {
    let mut effects = Effects::new();
    for end in &history.tenants {
        for event in end.events.iter().filter(|event| event.kind == EFFECT) {
            let errand = Errand::of_effect(&event.data).expect("written by a worker");
            *effects.entry((end.tenant.clone(), errand)).or_default() += 1;
        }
    }
    effects
}

fn strangers(history: &QueueHistory, effects: &Effects) -> Vec<String> {
    let tenants: BTreeMap<u16, _> =
        history.plan.requests().map(|request| (request.number, tenant(request.tenant))).collect();
    let strange = effects.keys().filter(|(tenant, errand)| tenants.get(&errand.request) != Some(tenant));
    strange.map(|(tenant, errand)| format!("{errand} is in the journal of {tenant}")).collect()
}

/// One message, and those that follow from it.
fn follow(
    history: &QueueHistory,
    request: &Request,
    message: u16,
    was_accepted: bool,
    books: &Books,
    effects: &Effects,
) -> Option<String> {
    let dead: BTreeSet<&MessageId> = history.tenants.iter().flat_map(|end| &end.dead).collect();
    let mut errand = Errand { request: request.number, message, step: 0 };
    for _ in &request.works {
        let id = books.by_errand.get(&errand);
        let is_done = effects.contains_key(&(tenant(request.tenant), errand));
        let standing = id.and_then(|id| books.messages.get(id)).map(|kept| kept.standing);
        match standing {
            None if errand.step == 0 => return was_accepted.then(|| format!("{errand} was accepted and never done")),
            None => return Some(format!("{errand}: the step before was not followed by it")),
            Some(Standing::Done) if !is_done => return Some(format!("{errand} left its queue without its effect")),
            Some(Standing::Done) => {}
            Some(Standing::Dead) if id.is_some_and(|id| dead.contains(id)) => return None,
            Some(other) => return Some(format!("{errand} was accepted and never done: it is {other:?}")),
        }
        errand = errand.next();
    }
    None
}

/// What was said to be durable.
fn missing(history: &QueueHistory) -> Vec<String> {
    let in_store: BTreeSet<_> = history
        .tenants
        .iter()
        .flat_map(|end| end.events.iter().map(|event| (&end.tenant, event.kind.as_str(), event.data.as_str())))
        .collect();
    let mut complaints = Vec::new();
    Books::walk(history, |_, record, commit| {
        for event in &commit.events {
            let (kind, data) = (event.encoded.kind, event.encoded.data.get());
            if !in_store.contains(&(&commit.tenant, kind, data)) {
                complaints.push(format!("a {kind} that process {} committed is not in the store", record.process.0));
            }
        }
    });
    complaints
}

/// Outside, an effect may happen again when whoever performed it did not live to say so; never once it was said.
fn performed(history: &QueueHistory, books: &Books) -> Vec<String> {
    let mut done = BTreeSet::new();
    let mut performed = BTreeSet::new();
    let mut complaints = Vec::new();
    for record in &history.records {
        match &record.what {
            What::Performed(delivery) => {
                performed.insert(*delivery);
                if done.contains(&delivery.message_id) {
                    let errand = books.messages[&delivery.message_id].errand;
                    complaints.push(format!("{errand} was performed after it was done, by {}", record.process.0));
                }
            }
            What::Committed(both) => {
                for change in &both.0.deliveries {
                    if let DeliveryChange::Ack(delivery) = change {
                        done.insert(delivery.message_id);
                        if !performed.contains(delivery) {
                            complaints.push(format!("{} was done without being performed", delivery.message_id));
                        }
                    }
                }
            }
            _ => {}
        }
    }
    complaints
}
