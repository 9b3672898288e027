//! A history of engines as a story: how to play it again, and who did what when, in a line each. Heartbeats, looks and
//! what only carries a call further are left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use windlass_domain::TaskId;
use windlass_store::{Commit, DeliveryChange};

use crate::engines::history::{EngineHistory, EngineRecord, EngineWhat};
use crate::engines::passage::is_drive;
use crate::queues::blow_in_words;

const LONGEST: usize = 200;

pub fn engine_story(history: &EngineHistory) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes everything");
    let plan = &history.plan;
    let (workers, concurrency) = (plan.workers, plan.concurrency);
    line(format!("seed {}, {workers} workers of {concurrency}, hints {:?}, bug {:?}", plan.seed, plan.hints, plan.bug));
    plan.acts.iter().for_each(|act| line(format!("  {act:?}")));
    let teller = Teller::new(history);
    let mut lines: Vec<(u64, String)> = history.records.iter().filter_map(|record| teller.tell(record)).collect();
    lines.extend(history.ledger.iter().map(|entry| {
        let (process, text) = (entry.process.0, &entry.effect.text);
        (entry.change, format!("{:>9} process {process:<2} does {text}", ""))
    }));
    lines.sort_by_key(|(change, _)| *change);
    let left_out = lines.len().saturating_sub(LONGEST);
    if left_out > 0 {
        line(format!("({left_out} lines are left out)"));
    }
    lines.into_iter().skip(left_out).for_each(|(_, told)| line(told));
    text
}

struct Teller {
    /// By the end of its number, which is enough to know a task by.
    jobs: BTreeMap<String, String>,
}

impl Teller {
    fn new(history: &EngineHistory) -> Self {
        let jobs = history.records.iter().filter_map(|record| match record.what {
            EngineWhat::Submitted { job, task } => Some((task.to_string(), format!("job {job} ({})", short(&task)))),
            _ => None,
        });
        Self { jobs: jobs.collect() }
    }

    fn task(&self, task: &TaskId) -> String {
        self.jobs.get(&task.to_string()).cloned().unwrap_or_else(|| short(task))
    }

    fn tell(&self, record: &EngineRecord) -> Option<(u64, String)> {
        let what = match &record.what {
            EngineWhat::Started { worker } => format!("starts as worker {worker}"),
            EngineWhat::Committed(both) => self.commit(&both.0)?,
            EngineWhat::Submitted { task, .. } => format!("hears that {} is taken in", self.task(task)),
            EngineWhat::Answered { card, command, verdict, .. } => {
                format!("hears that {verdict:?} counts, to `{command}` (card {})", short(card))
            }
            EngineWhat::Refused { card, why } => {
                format!("hears that the answer to card {} does not: {why}", short(card))
            }
            EngineWhat::Replied { question, words, counts, .. } => {
                let how = if *counts { "counts" } else { "is heard as a word" };
                format!("hears that `{words}` {how}, to question {}", short(question))
            }
            EngineWhat::Told { task, wish, .. } => format!("is heard with {wish:?} to {}", self.task(task)),
            EngineWhat::Begun { task } => format!("hears that {} has begun", self.task(task)),
            EngineWhat::Redirected { task, words, undone } => {
                format!("hears of {} that `{words}` undoes {undone:?}", self.task(task))
            }
            EngineWhat::Resumed { task } => format!("resumes {}", self.task(task)),
            EngineWhat::Suffered { worker, blow, point } => {
                format!("(worker {worker}) {}, {point}", blow_in_words(*blow))
            }
            EngineWhat::NoRoom => "finds the disk full".to_owned(),
            EngineWhat::GaveUp(why) => format!("gives up: {why}"),
            EngineWhat::ClockSet { worker: Some(worker), by_millis } => {
                format!("sets worker {worker}'s wall clock by {by_millis} ms")
            }
            EngineWhat::ClockSet { worker: None, by_millis } => format!("sets all wall clocks by {by_millis} ms"),
            EngineWhat::Broken(why) => format!("is broken: {why}"),
            EngineWhat::TimedOut => "gives up waiting".to_owned(),
        };
        Some((record.change, format!("{:>9} process {:<2} {what}", seconds(record.at), record.process.0)))
    }

    fn commit(&self, commit: &Commit) -> Option<String> {
        let events = commit.events.iter().filter(|event| event.stream.kind() != "audit");
        let events = events.map(|event| {
            let id = event.stream.id();
            let whose = self.jobs.get(id).cloned().unwrap_or_else(|| format!("{} {}", event.stream.kind(), short(&id)));
            format!("{} of {whose}", event.encoded.kind)
        });
        let messages = commit.messages.iter().filter(|message| is_drive(&message.queue));
        let messages = messages.map(|message| {
            let task = message.subject.as_ref().map(|stream| stream.id().to_owned()).unwrap_or_default();
            format!("has {} driven", self.jobs.get(&task).cloned().unwrap_or_else(|| short(&task)))
        });
        let changes = commit.deliveries.iter().map(|change| match change {
            DeliveryChange::Lease { message, from: None, .. } => format!("takes message {}", short(message)),
            DeliveryChange::Lease { message, from: Some(_), .. } => format!("takes message {} over", short(message)),
            DeliveryChange::Ack(delivery) => format!("acks message {}", short(&delivery.message_id)),
            DeliveryChange::Nack { delivery, .. } => format!("gives back message {}", short(&delivery.message_id)),
            DeliveryChange::Dead { delivery, .. } => format!("buries message {}", short(&delivery.message_id)),
            DeliveryChange::Retry(message) | DeliveryChange::Hasten(message) | DeliveryChange::Drop(message) => {
                format!("sees to message {}", short(message))
            }
        });
        let leases = commit.leases.iter().map(|change| format!("{change:?}").chars().take(60).collect::<String>());
        let parts: Vec<String> = events.chain(messages).chain(changes).chain(leases).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

fn short(id: &impl ToString) -> String {
    let id = id.to_string();
    id[id.len().saturating_sub(4)..].to_owned()
}

fn seconds(time: Duration) -> String {
    format!("{:.3}s", time.as_secs_f64())
}
