//! Short words for the cases: rows with everything filled in that a case does not care about.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windlass_domain::{BoxFuture, Encoded, Instant, MessageId, OwnerId, Runtime, Seq, Taint, Tenant, TraceId, Wall};

use crate::commit::{Commit, Committed, NewEvent, NewMessage, NewTimer, TimerName};
use crate::delivery::{Delivery, DeliveryChange, Takeover};
use crate::error::Error;
use crate::lease::{Claim, Epoch, Fence, LeaseChange, LeaseName};
use crate::owner::{NewOwner, Owner, register};
use crate::store::Store;
use crate::stream::StreamId;

pub(super) type AnyStore = Arc<dyn Store>;
pub(super) type AnyRuntime = Arc<dyn Runtime>;

pub(super) const NOW: Wall = Wall::from_millis(1_700_000_000_000);

pub(super) fn tenant() -> Tenant {
    Tenant::local()
}

pub(super) fn commit() -> Commit {
    Commit::unfenced(tenant(), NOW)
}

pub(super) fn stream(id: &str) -> StreamId {
    StreamId::new("test", id)
}

pub(super) fn encoded(kind: &'static str, text: &str) -> Encoded {
    let data = serde_json::value::to_raw_value(text).expect("text is JSON");
    Encoded { kind, version: 3, data, since: 1, older: &[] }
}

pub(super) fn event(stream: &StreamId, text: &str) -> NewEvent {
    NewEvent { stream: stream.clone(), encoded: encoded("test.happened", text), taint: Taint::Auth, at: NOW }
}

pub(super) fn append(stream: &StreamId, expected: u64, texts: &[&str]) -> Commit {
    let mut commit = commit();
    commit.expect.push((stream.clone(), Seq(expected)));
    commit.events.extend(texts.iter().map(|text| event(stream, text)));
    commit
}

pub(super) fn message_id(number: u64) -> MessageId {
    MessageId::new(NOW, u128::from(number) << 64)
}

pub(super) fn trace_id(number: u64) -> TraceId {
    TraceId::new(NOW, u128::from(number + 1_000) << 64)
}

pub(super) fn message(number: u64, queue: &str) -> NewMessage {
    NewMessage {
        message_id: message_id(number),
        queue: queue.to_owned(),
        subject: Some(stream("about")),
        trace_id: trace_id(number),
        encoded: encoded("test.asked", &number.to_string()),
        taint: Taint::External,
        priority: 0,
        not_before: None,
    }
}

pub(super) fn timer(name: &str, due: u64) -> NewTimer {
    NewTimer {
        name: TimerName(name.to_owned()),
        due: Wall::from_millis(due),
        queue: "alarms".to_owned(),
        encoded: encoded("test.rang", name),
        taint: Taint::Owner,
    }
}

pub(super) fn owner_id(number: u64) -> OwnerId {
    OwnerId::new(NOW, u128::from(number) << 64)
}

pub(super) async fn registered(store: &AnyStore, number: u64) -> Owner {
    let new = NewOwner {
        id: owner_id(number),
        host: "ship".into(),
        boot_id: "boot".into(),
        pid: 7,
        level: windlass_domain::JOURNAL_LEVEL,
    };
    register(&**store, new, NOW).await.expect("anybody may register")
}

pub(super) fn lease(id: &str) -> LeaseName {
    LeaseName::new("test", id)
}

pub(super) fn taking(lease: &LeaseName, owner: Owner, claim: Claim) -> Commit {
    let mut commit = commit();
    commit.leases.push(LeaseChange::Take { lease: lease.clone(), owner: owner.id, claim });
    commit
}

/// Takes a free lease.
pub(super) async fn taken(store: &AnyStore, name: &LeaseName, owner: Owner) -> Fence {
    let committed = store.commit(taking(name, owner, Claim::Unheld)).await.expect("the lease is free");
    let (_, epoch) = committed.leases.first().expect("its epoch");
    Fence { lease: name.clone(), owner: owner.id, epoch: *epoch }
}

pub(super) fn at_epoch(fence: &Fence, epoch: u64) -> Fence {
    Fence { epoch: Epoch(epoch), ..fence.clone() }
}

pub(super) async fn ok(store: &AnyStore, commit: Commit) -> Committed {
    store.commit(commit).await.expect("every guard holds")
}

pub(super) async fn refused(store: &AnyStore, commit: Commit) -> Error {
    store.commit(commit).await.expect_err("a guard does not hold")
}

/// A stream's payloads, as texts.
pub(super) async fn texts(store: &AnyStore, stream: &StreamId) -> Vec<String> {
    let events = store.stream(&tenant(), stream, Seq(0), usize::MAX).await.expect("readable");
    events.into_iter().map(|event| text(&event.data)).collect()
}

pub(super) fn text(data: &str) -> String {
    serde_json::from_str(data).expect("fixtures store texts")
}

/// Commits what happens to messages.
pub(super) fn delivering(tenant: &Tenant, changes: impl IntoIterator<Item = DeliveryChange>) -> Commit {
    let mut commit = Commit::unfenced(tenant.clone(), NOW);
    commit.deliveries.extend(changes);
    commit
}

pub(super) fn leasing(number: u64, owner: Owner, from: Option<Takeover>) -> Commit {
    delivering(&tenant(), [DeliveryChange::Lease { message: message_id(number), owner: owner.id, from }])
}

/// Leases a message that is ready.
pub(super) async fn delivered(store: &AnyStore, number: u64, owner: Owner) -> Delivery {
    let committed = ok(store, leasing(number, owner, None)).await;
    *committed.deliveries.first().expect("a lease has its delivery")
}

/// Clocks that stand still until they are moved, and dice that count.
pub(super) struct Stopped {
    inner: AnyRuntime,
    millis: AtomicU64,
    thrown: AtomicU64,
}

impl Stopped {
    pub(super) const fn new(inner: AnyRuntime) -> Self {
        Self { inner, millis: AtomicU64::new(0), thrown: AtomicU64::new(0) }
    }

    pub(super) fn pass(&self, length: Duration) {
        let millis = u64::try_from(length.as_millis()).expect("a short time");
        self.millis.fetch_add(millis, Ordering::SeqCst);
    }

    fn passed(&self) -> Duration {
        Duration::from_millis(self.millis.load(Ordering::SeqCst))
    }
}

impl Runtime for Stopped {
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.inner.spawn(task);
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        self.inner.sleep_until(deadline)
    }

    fn block(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        self.inner.block(work)
    }

    fn now(&self) -> Instant {
        Instant::since_start(self.passed())
    }

    fn wall(&self) -> Wall {
        NOW + self.passed()
    }

    fn random(&self) -> u128 {
        u128::from(self.thrown.fetch_add(1, Ordering::SeqCst)) << 64
    }
}
