//! A history as a story: how to play it again, and who did what when, in a line each. Heartbeats and looks are left out.

use std::fmt::Write as _;
use std::time::Duration;

use windlass_domain::OwnerId;
use windlass_store::{Commit, Delivery, DeliveryChange};

use crate::queues::examine::Books;
use crate::queues::{Blow, QueueHistory, Record, What};

const LONGEST: usize = 200;

pub fn queue_story(history: &QueueHistory) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes everything");
    let plan = &history.plan;
    line(format!("seed {}, {} workers, hints {:?}, bug {:?}", plan.seed, plan.workers, plan.hints, plan.bug));
    for act in &plan.acts {
        line(format!("  {act:?}"));
    }
    let teller = Teller::new(history);
    let mut lines: Vec<String> = history.records.iter().filter_map(|record| teller.tell(record)).collect();
    let left_out = lines.len().saturating_sub(LONGEST);
    if left_out > 0 {
        line(format!("({left_out} lines are left out)"));
    }
    lines.drain(..left_out);
    lines.into_iter().for_each(line);
    text
}

struct Teller {
    books: Books,
    owners: Vec<(OwnerId, String)>,
}

impl Teller {
    fn new(history: &QueueHistory) -> Self {
        let owners = history.records.iter().filter_map(|record| match record.what {
            What::Started { worker, owner } => Some((owner, format!("worker {worker}"))),
            _ => None,
        });
        Self { books: Books::walk(history, |_, _, _| {}), owners: owners.collect() }
    }

    fn tell(&self, record: &Record) -> Option<String> {
        let what = match &record.what {
            What::Started { worker, .. } => format!("starts as worker {worker}"),
            What::Committed(both) => self.commit(&both.0)?,
            What::Performed(delivery) => format!("performs {}", self.delivery(delivery)),
            What::Accepted { request } => format!("hears that request {request} is accepted"),
            What::Suffered { worker, blow, point } => format!("(worker {worker}) {}, {point}", blow_in_words(*blow)),
            What::NoRoom => "finds the disk full".to_owned(),
            What::ClockSet { worker, by_millis } => match worker {
                Some(worker) => format!("sets worker {worker}'s wall clock by {by_millis} ms"),
                None => format!("sets all wall clocks by {by_millis} ms"),
            },
            What::Raced { token, won } => {
                format!("{} token {token}", if *won { "wins" } else { "finds nothing left of" })
            }
            What::Broken(why) => format!("is broken: {why}"),
            What::TimedOut => "gives up waiting".to_owned(),
        };
        Some(format!("{:>9} process {:<2} {what}", seconds(record.at), record.process.0))
    }

    fn commit(&self, commit: &Commit) -> Option<String> {
        let enqueued = commit.messages.first().map(|message| match commit.messages.len() {
            1 => format!("enqueues {}", self.message(message.message_id)),
            many => format!("enqueues {} and {} more", self.message(message.message_id), many - 1),
        });
        let changes = commit.deliveries.iter().map(|change| match change {
            DeliveryChange::Lease { message, from: None, .. } => format!("leases {}", self.message(*message)),
            DeliveryChange::Lease { message, from: Some(from), .. } => {
                format!("takes {} over from {}", self.message(*message), self.owner(from.holder.owner().id))
            }
            DeliveryChange::Ack(delivery) => format!("acks {}", self.delivery(delivery)),
            DeliveryChange::Nack { delivery, .. } => format!("gives back {}", self.delivery(delivery)),
            DeliveryChange::Dead { delivery, .. } => format!("buries {}", self.delivery(delivery)),
            DeliveryChange::Hasten(message) => format!("hastens {}", self.message(*message)),
            DeliveryChange::Retry(message) => format!("retries {}", self.message(*message)),
            DeliveryChange::Drop(message) => format!("drops {}", self.message(*message)),
        });
        let claims = commit.nonces.iter().map(|nonce| format!("claims {}", nonce.0));
        let effects = commit.events.iter().filter(|event| event.encoded.kind == crate::queues::errand::EFFECT);
        let effects = effects.map(|_| "records its effect".to_owned());
        let parts: Vec<String> = changes.chain(effects).chain(enqueued).chain(claims).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn delivery(&self, delivery: &Delivery) -> String {
        format!("{} (delivery {}, {})", self.message(delivery.message_id), delivery.number, self.owner(delivery.owner))
    }

    fn message(&self, id: windlass_domain::MessageId) -> String {
        self.books.messages.get(&id).map_or_else(|| id.to_string(), |kept| format!("[{}]", kept.errand))
    }

    fn owner(&self, id: OwnerId) -> String {
        let found = self.owners.iter().find(|(owner, _)| *owner == id);
        found.map_or_else(|| id.to_string(), |(_, name)| name.clone())
    }
}

fn blow_in_words(blow: Blow) -> String {
    match blow {
        Blow::Dies { after, .. } => format!("is killed, to start again after {}", seconds(after)),
        Blow::Stops(length) => format!("is stopped for {}", seconds(length)),
        Blow::Freezes(length) => format!("sleeps with its machine for {}", seconds(length)),
        Blow::DiskFull => "will find the disk full".to_owned(),
        Blow::Leaves => "is told to end".to_owned(),
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3}s", time.as_secs_f64())
}
