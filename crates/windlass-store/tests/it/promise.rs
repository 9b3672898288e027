//! Commits whose every part can be found again, for tests that lose power or disks: a commit appends twice to its worker's
//! stream and once to a shared one, enqueues a message, uses a nonce, acks the delivery of the worker's commit before and
//! takes one of its own. After whatever happened each must be wholly there or wholly absent, and there if it was acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use windlass_domain::{Digest, Encoded, MessageId, OwnerId, Seq, Taint, Tenant, TraceId, Wall};
use windlass_store::chain::{Verified, verify};
use windlass_store::owner::{NewOwner, OwnerChange};
use windlass_store::{Commit, Delivery, DeliveryChange, Depth, NewEvent, NewMessage, Nonce, Store, StreamId};

const NOW: Wall = Wall::from_millis(1_700_000_000_000);

/// The `index`th commit of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Promise {
    pub worker: u64,
    pub index: u64,
}

impl Promise {
    pub const fn number(self) -> u64 {
        self.worker * 1_000 + self.index
    }

    pub const fn of_number(number: u64) -> Self {
        Self { worker: number / 1_000, index: number % 1_000 }
    }

    fn stream(self) -> StreamId {
        StreamId::new("worker", self.worker)
    }

    /// From a few bytes to a few pages; no two are alike, so that a page in the wrong place shows.
    fn text(self, part: u64) -> String {
        let length = [20, 300, 3_000, 9_000][(self.number() % 4) as usize];
        let digest = Digest::of(format!("{self:?} {part}").as_bytes()).to_string();
        let mut text = digest.repeat(length / digest.len() + 1);
        text.truncate(length);
        text
    }

    const fn before(self) -> Option<Self> {
        match self.index {
            0 => None,
            index => Some(Self { worker: self.worker, index: index - 1 }),
        }
    }

    fn delivery(self) -> Delivery {
        let number = u128::from(self.number() + 1_000_000) << 64;
        Delivery { message_id: MessageId::new(NOW, number), owner: OwnerId::new(NOW, number), number: 1 }
    }

    /// Its own owner takes its own message and keeps it until the next commit.
    fn deliver(self, commit: &mut Commit) {
        let Delivery { message_id, owner, .. } = self.delivery();
        let new = NewOwner {
            id: owner,
            host: String::new(),
            boot_id: String::new(),
            pid: 1,
            level: windlass_domain::JOURNAL_LEVEL,
        };
        commit.owners.push(OwnerChange::Register(new));
        commit.messages.push(message(message_id, "work", self.number()));
        commit.deliveries.extend(self.before().map(|before| DeliveryChange::Ack(before.delivery())));
        commit.deliveries.push(DeliveryChange::Lease { message: message_id, owner, from: None });
    }

    pub fn commit(self) -> Commit {
        let mut commit = Commit::unfenced(Tenant::local(), NOW);
        let event = |stream, text: &str| NewEvent { stream, encoded: encoded(text), taint: Taint::Auth, at: NOW };
        commit.expect.push((self.stream(), Seq(self.index * 2)));
        commit.nonces.push(Nonce(self.number().to_string()));
        commit.events.push(event(self.stream(), &self.text(1)));
        commit.events.push(event(shared(), &self.number().to_string()));
        commit.events.push(event(self.stream(), &self.text(2)));
        let message_id = MessageId::new(NOW, u128::from(self.number()) << 64);
        commit.messages.push(message(message_id, "box", self.number()));
        self.deliver(&mut commit);
        commit
    }
}

fn message(message_id: MessageId, queue: &str, number: u64) -> NewMessage {
    NewMessage {
        message_id,
        queue: queue.to_owned(),
        subject: None,
        trace_id: TraceId::new(NOW, 0),
        encoded: encoded(&number.to_string()),
        taint: Taint::Auth,
        priority: 0,
        not_before: None,
    }
}

fn shared() -> StreamId {
    StreamId::new("shared", "all")
}

fn encoded(text: &str) -> Encoded {
    let data = serde_json::value::to_raw_value(text).expect("text is JSON");
    Encoded { kind: "test.promised", version: 1, data, since: 1, older: &[] }
}

/// The commits that are wholly there. Panics if one is there in part.
pub async fn kept(store: &dyn Store, workers: u64) -> BTreeSet<Promise> {
    let tenant = Tenant::local();
    let mut kept = BTreeSet::new();
    for worker in 0..workers {
        let stream = Promise { worker, index: 0 }.stream();
        let events = store.stream(&tenant, &stream, Seq(0), usize::MAX).await.expect("readable");
        for (pair, index) in events.chunks(2).zip(0..) {
            let promise = Promise { worker, index };
            let found: Vec<&str> = pair.iter().map(|event| event.data.as_str()).collect();
            let expected = [1, 2].map(|part| format!("\"{}\"", promise.text(part)));
            assert_eq!(found, expected, "{promise:?} is there in part, or changed");
            kept.insert(promise);
        }
    }
    let shared = store.stream(&tenant, &shared(), Seq(0), usize::MAX).await.expect("readable");
    let messages = store.mailbox(&tenant, "box", NOW, usize::MAX).await.expect("readable");
    assert_eq!(counted(shared.iter().map(|event| &event.data)), counted_once(&kept), "the shared stream");
    assert_eq!(counted(messages.iter().map(|message| &message.data)), counted_once(&kept), "the mailbox");
    let held = store.leased("work", usize::MAX).await.expect("readable");
    let held: BTreeSet<Delivery> = held.into_iter().map(|found| found.delivery).collect();
    let is_last = |promise: &Promise| !kept.contains(&Promise { index: promise.index + 1, ..*promise });
    let last: BTreeSet<Delivery> = kept.iter().copied().filter(is_last).map(Promise::delivery).collect();
    assert_eq!(held, last, "what was delivered");
    assert_eq!(store.depth("work").await, Ok(Depth { ready: 0, leased: last.len() as u64 }), "the queue");
    let chain = verify(store, &tenant, None, None).await.expect("readable");
    let events = 3 * kept.len() as u64;
    assert!(matches!(chain, Verified::Intact { events: found, .. } if found == events), "the chain: {chain:?}");
    kept
}

fn counted<'a>(numbers: impl Iterator<Item = &'a String>) -> BTreeMap<Promise, usize> {
    let mut counts = BTreeMap::new();
    for number in numbers {
        let number = number.trim_matches('"').parse().expect("a number");
        *counts.entry(Promise::of_number(number)).or_default() += 1;
    }
    counts
}

fn counted_once(promises: &BTreeSet<Promise>) -> BTreeMap<Promise, usize> {
    promises.iter().map(|promise| (*promise, 1)).collect()
}
