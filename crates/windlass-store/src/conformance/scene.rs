//! What the cases about queues have in common: a store, clocks that stand still, one who listens, and short words for what
//! a consumer does.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use windlass_domain::Taint;
use windlass_domain::queue::{MessageKind, QueueMessage, Sender};

use crate::commit::Commit;
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, NOW, Stopped, event, message_id, ok, registered, stream, tenant, texts, trace_id,
};
use crate::error::Error as StoreError;
use crate::owner::{Observer, Owner, Witness};
use crate::queue::{
    Consumer, Desk, Error, Leased, Queue, QueueTelemetryEvent, TakenOver, Telemetry, TelemetryName, enqueue,
};
use crate::record::Standing;

pub(super) const TIME_TO_LIVE: Duration = Duration::from_secs(9);
pub(super) const A_LOOK: Duration = Duration::from_secs(3);

#[derive(Default)]
struct Heard(Mutex<Vec<QueueTelemetryEvent>>);

impl Telemetry for Heard {
    fn emit(&self, event: QueueTelemetryEvent) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}

pub(super) struct Scene {
    store: AnyStore,
    pub(super) clock: Stopped,
    heard: Heard,
}

impl Scene {
    pub(super) fn new(store: AnyStore, runtime: AnyRuntime) -> Self {
        Self { store, clock: Stopped::new(runtime), heard: Heard::default() }
    }

    pub(super) fn desk(&self) -> Desk<'_> {
        Desk::new(&*self.store, &self.clock, &self.heard)
    }

    /// What was measured under a name, as values.
    pub(super) fn measured(&self, name: TelemetryName) -> Vec<QueueTelemetryEvent> {
        let heard = self.heard.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.iter().filter(|event| event.event_name == name).cloned().collect()
    }

    pub(super) async fn consumer(&self, number: u64) -> (Consumer, Owner) {
        let owner = registered(&self.store, number).await;
        (Consumer::new(Queue::Planner, owner.id), owner)
    }

    pub(super) async fn put(&self, messages: impl IntoIterator<Item = QueueMessage>) {
        let mut commit = Commit::unfenced(tenant(), NOW);
        for message in messages {
            enqueue(&mut commit, Queue::Planner, &message).expect("as it should be");
        }
        ok(&self.store, commit).await;
    }

    pub(super) async fn lease(&self, consumer: &mut Consumer) -> Leased {
        self.desk().lease(consumer).await.expect("no trouble").expect("there is one")
    }

    pub(super) async fn nothing_to_lease(&self, consumer: &mut Consumer) -> bool {
        self.desk().lease(consumer).await.expect("no trouble").is_none()
    }

    /// Looks until a silent holder is gone, and says what was taken over.
    pub(super) async fn watch(&self, consumer: &mut Consumer, witness: &mut Witness) -> Vec<Leased> {
        let mut taken = Vec::new();
        for _ in 0..4 {
            while let TakenOver::Message(leased) = self.desk().take_over(consumer, witness).await.expect("no trouble") {
                taken.push(*leased);
            }
            self.clock.pass(A_LOOK);
        }
        taken
    }

    pub(super) async fn standing(&self, number: u64) -> Option<Standing> {
        let found = self.store.message(&tenant(), message_id(number)).await.expect("readable");
        found.map(|message| message.standing)
    }
}

pub(super) fn witness() -> Witness {
    Witness::by_heartbeat(Observer::new(TIME_TO_LIVE))
}

pub(super) fn request(number: u64) -> QueueMessage {
    let from = (Sender::Proxy, MessageKind::PlanRequest);
    QueueMessage::new(message_id(number), trace_id(number), from, (tenant(), Taint::Auth), number.to_string(), NOW)
}

/// What a consumer does with a message: something that can be counted.
pub(super) fn effect(leased: &Leased) -> Commit {
    let mut commit = Commit::unfenced(tenant(), NOW);
    commit.events.push(event(&stream("done"), &leased.message.content));
    commit
}

pub(super) async fn done(store: &AnyStore) -> Vec<String> {
    texts(store, &stream("done")).await
}

pub(super) fn stale<T>(refusal: Result<T, Error>) -> bool {
    matches!(refusal, Err(Error::Store(StoreError::StaleDelivery { .. })))
}
