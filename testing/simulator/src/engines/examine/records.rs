//! What the records themselves must be: all there, numbered, chained, written by one process at a time, and each message in
//! one pair of hands; every call with one result, and nothing done twice.

use std::collections::{BTreeMap, BTreeSet};

use windlass_domain::OwnerId;
use windlass_store::DeliveryChange;
use windlass_store::chain::Verified;
use windlass_store::owner::OwnerChange;

use super::court::Court;
use crate::commit_log::LoggedCommit;
use crate::engines::history::{EngineHistory, EngineWhat};
use crate::examine::{effects, journal, leases};
use crate::executor::ProcessId;

pub fn check(court: &Court<'_>) -> Vec<String> {
    let history = court.history;
    let mut complaints = broken(history);
    complaints.extend(leases::one_at_a_time(&commits(history)));
    complaints.extend(other_hands(history));
    complaints.extend(missing(history));
    for bench in &court.tenants {
        complaints.extend(bench.unreadable.iter().cloned());
        complaints.extend(bench.of_nobody());
        complaints.extend(journal::whole(&bench.end.events, &bench.folded));
        if let Verified::Broken(broken) = &bench.end.chain {
            complaints.push(format!("the chain of {} is broken: {broken:?}", bench.end.tenant));
        }
        for task in bench.tasks.keys() {
            let done = bench.ledger(history, *task).map(|entry| &entry.effect);
            complaints.extend(effects::compare(done, bench.executions(*task)));
        }
    }
    complaints
}

fn broken(history: &EngineHistory) -> Vec<String> {
    let told = history.records.iter().filter_map(|record| match &record.what {
        EngineWhat::Broken(why) => Some(format!("process {}: {why}", record.process.0)),
        _ => None,
    });
    told.collect()
}

fn commits(history: &EngineHistory) -> Vec<LoggedCommit> {
    let logged = history.records.iter().filter_map(|record| match &record.what {
        EngineWhat::Committed(both) => {
            let (commit, committed) = &**both;
            Some(LoggedCommit { taken: committed.leases.clone(), ..LoggedCommit::new(record.process, commit) })
        }
        _ => None,
    });
    logged.collect()
}

/// Only who has a message is done with it.
fn other_hands(history: &EngineHistory) -> Vec<String> {
    let mut owners: BTreeMap<OwnerId, ProcessId> = BTreeMap::new();
    let mut complaints = Vec::new();
    for record in &history.records {
        let EngineWhat::Committed(both) = &record.what else { continue };
        for change in &both.0.owners {
            if let OwnerChange::Register(new) = change {
                owners.insert(new.id, record.process);
            }
        }
        for change in &both.0.deliveries {
            let (DeliveryChange::Ack(delivery)
            | DeliveryChange::Nack { delivery, .. }
            | DeliveryChange::Dead { delivery, .. }) = change
            else {
                continue;
            };
            if owners.get(&delivery.owner) != Some(&record.process) {
                complaints.push(format!("process {} gave back what was in other hands", record.process.0));
            }
            if let DeliveryChange::Dead { reason, .. } = change {
                complaints.push(format!("a task's message was buried: {reason}"));
            }
        }
    }
    complaints
}

/// What was said to be durable.
fn missing(history: &EngineHistory) -> Vec<String> {
    let in_store: BTreeSet<_> = history
        .tenants
        .iter()
        .flat_map(|end| end.events.iter().map(|row| (&end.tenant, &row.stream, row.kind.as_str(), row.data.as_str())))
        .collect();
    let mut complaints = Vec::new();
    for record in &history.records {
        let EngineWhat::Committed(both) = &record.what else { continue };
        for event in &both.0.events {
            let (kind, data) = (event.encoded.kind, event.encoded.data.get());
            if !in_store.contains(&(&both.0.tenant, &event.stream, kind, data)) {
                complaints.push(format!("a {kind} that process {} committed is not in the store", record.process.0));
            }
        }
    }
    complaints
}
