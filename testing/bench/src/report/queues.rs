//! Queues against what the disk can do, and the head of a long one against that of a short one.

use crate::aims;
use crate::figures::{count, figure, list, times};
use crate::measure::queues::{CONSUMERS, Figures, MANY};
use crate::table::{Row, Section, Verdict};

pub fn section(queues: &Figures) -> Section {
    let rates: Vec<f64> = queues.rounds.iter().map(|round| round.per_s).collect();
    let consumers = CONSUMERS.map(|consumers| consumers.to_string()).join(" / ");
    let syncs = queues.syncs_per_s;
    let ratios = rates.iter().map(|rate| times(rate / syncs)).collect::<Vec<_>>().join(" / ");
    let with_four = CONSUMERS.iter().zip(&rates).find(|(consumers, _)| **consumers == 4).map_or(0.0, |(_, rate)| *rate);
    let one_sync = 1e6 / syncs;
    let rows = vec![
        Row::new(
            format!("messages put, leased and acked per s, {consumers} consumers"),
            list(rates),
            format!("fdatasync {}/s: {ratios}", figure(syncs)),
            &aims::QUEUES,
            Verdict::of(with_four >= 10_000.0),
        ),
        Row::new(
            "CPU µs per message, all three",
            list(queues.rounds.iter().map(|round| round.cpu_micros)),
            String::new(),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        Row::new(
            "µs from put to who waits for it, p50 / p99",
            list([queues.handoff.p50, queues.handoff.p99]),
            format!("a sync {}: {}", figure(one_sync), times(queues.handoff.p50 / one_sync)),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        Row::new(
            format!("µs to lease with {} waiting, p50 / p99", count(MANY as usize)),
            list([queues.head_of_many.p50, queues.head_of_many.p99]),
            format!(
                "with none: {}, {}",
                list([queues.head_of_few.p50, queues.head_of_few.p99]),
                times(queues.head_of_many.p50 / queues.head_of_few.p50)
            ),
            &aims::QUEUE_HEAD,
            Verdict::of(queues.head_of_many.p50 <= 1.25 * queues.head_of_few.p50),
        ),
    ];
    let notes = vec![
        "As many producers as consumers; each waits until one thing is on disk before it does the next. Put and leased include \
         their entries in the audit. Put to who waits has two syncs in it."
            .to_owned(),
    ];
    Section { title: "Queues", rows, notes }
}
