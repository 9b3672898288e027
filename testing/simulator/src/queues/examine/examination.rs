//! All rules together, and the two that need no file of their own: nothing broke, and every chain of events is whole.

use windlass_store::chain::Verified;

use crate::queues::examine::{approvals, done, fairness, labels, ownership, timeliness};
use crate::queues::{QueueHistory, What};

/// What is wrong with the history; nothing, if all is well.
pub fn examine_queues(history: &QueueHistory) -> Vec<String> {
    let rules = [broken, ownership::check, done::check, labels::check, timeliness::check, fairness::check];
    rules.iter().flat_map(|rule| rule(history)).chain(approvals::check(history)).collect()
}

fn broken(history: &QueueHistory) -> Vec<String> {
    let told = history.records.iter().filter_map(|record| match &record.what {
        What::Broken(why) => Some(format!("process {}: {why}", record.process.0)),
        _ => None,
    });
    let chains = history.tenants.iter().filter_map(|end| match &end.chain {
        Verified::Intact { .. } => None,
        Verified::Broken(broken) => Some(format!("the chain of {} is broken: {broken:?}", end.tenant)),
    });
    told.chain(chains).collect()
}
