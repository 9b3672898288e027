//! Commits whose every part can be found again, for tests that lose power or disks: a commit appends twice to its worker's
//! stream and once to a shared one, enqueues a message and uses a nonce. After whatever happened each must be wholly there
//! or wholly absent, and there if it was acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use windlass_domain::{Digest, Encoded, MessageId, Seq, Taint, Tenant, Wall};
use windlass_store::{Commit, NewEvent, NewMessage, Nonce, Store, StreamId};

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

    pub fn commit(self) -> Commit {
        let mut commit = Commit::unfenced(Tenant::local(), NOW);
        let event = |stream, text: &str| NewEvent { stream, encoded: encoded(text), taint: Taint::Auth, at: NOW };
        commit.expect.push((self.stream(), Seq(self.index * 2)));
        commit.nonces.push(Nonce(self.number().to_string()));
        commit.events.push(event(self.stream(), &self.text(1)));
        commit.events.push(event(shared(), &self.number().to_string()));
        commit.events.push(event(self.stream(), &self.text(2)));
        commit.messages.push(NewMessage {
            message_id: MessageId::new(NOW, u128::from(self.number()) << 64),
            mailbox: "box".to_owned(),
            encoded: encoded(&self.number().to_string()),
            taint: Taint::Auth,
            priority: 0,
            not_before: NOW,
            trace_id: None,
        });
        commit
    }
}

fn shared() -> StreamId {
    StreamId::new("shared", "all")
}

fn encoded(text: &str) -> Encoded {
    let data = serde_json::value::to_raw_value(text).expect("text is JSON");
    Encoded { kind: "test.promised", version: 1, data }
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
