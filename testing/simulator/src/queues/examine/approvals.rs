//! Of those who race for a token's uses exactly as many win as it allows: never more, and nobody is sent away while there
//! is one left.

use crate::queues::approvals::{USES, stream_of, whose};
use crate::queues::{QueueHistory, What};

const VERIFIED: &str = "approval.verified";

pub fn check(history: &QueueHistory) -> Vec<String> {
    (0_u8..).zip(USES).flat_map(|(token, uses)| judge(history, token, uses as usize)).collect()
}

fn judge(history: &QueueHistory, token: u8, uses: usize) -> Vec<String> {
    let stream = stream_of(token);
    let events = history.tenants.iter().filter(|end| end.tenant == whose()).flat_map(|end| &end.events);
    let spent = events.filter(|event| event.stream == stream && event.kind == VERIFIED).count();
    let outcomes: Vec<bool> = history.records.iter().filter_map(|record| raced(&record.what, token)).collect();
    let told = outcomes.iter().filter(|won| **won).count();
    let was_sent_away = outcomes.len() > told;
    let rules = [
        (spent <= uses, "was used more often than it allows"),
        (told <= spent, "was won by somebody who is not on record"),
        (!was_sent_away || spent >= uses, "was refused while a use was left"),
    ];
    let broken = rules.into_iter().filter(|(kept, _)| !kept);
    broken.map(|(_, what)| format!("token {token} {what}: {spent} of {uses} uses, {told} told")).collect()
}

const fn raced(what: &What, of: u8) -> Option<bool> {
    match what {
        What::Raced { token, won } if *token == of => Some(*won),
        _ => None,
    }
}
