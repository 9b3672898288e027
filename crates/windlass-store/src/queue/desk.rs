//! Where queues are worked from: the store, the clocks, and who is told; and what a consumer has in hand.

use std::collections::BTreeSet;

use windlass_domain::queue::QueueMessage;
use windlass_domain::{Instant, OwnerId, Runtime, Tenant};

use crate::delivery::Delivery;
use crate::queue::head::Head;
use crate::queue::place::lane;
use crate::queue::telemetry::{QueueTelemetryEvent, Telemetry, TelemetryName};
use crate::queue::{Error, Queue};
use crate::store::Store;

/// A message that failed so often is dead (contracts §9).
pub const MAX_DELIVERIES: u32 = 5;

#[derive(Clone, Copy)]
pub struct Desk<'a> {
    pub store: &'a dyn Store,
    pub runtime: &'a dyn Runtime,
    pub telemetry: &'a dyn Telemetry,
    pub max_deliveries: u32,
}

/// One who takes messages from a queue, for a process that is registered as an owner. It remembers whom it served last, so
/// that tenants take turns. A clone is another consumer beside it.
#[derive(Debug, Clone)]
pub struct Consumer {
    pub queue: Queue,
    pub owner: OwnerId,
    /// Where it looks: what anybody may take, then each of its places.
    pub(super) lanes: Vec<String>,
    pub(super) served: Option<Tenant>,
    /// Whose messages are left alone for now.
    pub(super) full: BTreeSet<Tenant>,
    /// How many others seem to reach for the same messages: as many are chosen from.
    pub(super) crowd: usize,
    pub(super) head: Head,
}

impl Consumer {
    pub fn new(queue: Queue, owner: OwnerId) -> Self {
        Self {
            queue,
            owner,
            lanes: vec![lane(queue, None)],
            served: None,
            full: BTreeSet::new(),
            crowd: 1,
            head: Head::default(),
        }
    }

    /// From now on it takes nothing of these tenants: they have had as much as they may.
    pub fn leave_out(&mut self, full: BTreeSet<Tenant>) {
        self.full = full;
    }

    /// It also takes what can be done at this place alone.
    #[must_use]
    pub fn at(mut self, place: &str) -> Self {
        self.lanes.push(lane(self.queue, Some(place)));
        // Those beside it may not take what it may.
        self.head = Head::default();
        self
    }
}

/// A message in a consumer's hands.
#[derive(Debug, Clone, PartialEq)]
pub struct Leased {
    pub message: QueueMessage,
    pub delivery: Delivery,
    pub queue: Queue,
    /// How often it has been tried, this time included.
    pub attempt: u32,
    pub(super) since: Instant,
    pub(super) heartbeats: u32,
}

impl Leased {
    pub(super) fn require_tenant(&self, tenant: &Tenant) -> Result<(), Error> {
        if *tenant == self.message.scope_id {
            return Ok(());
        }
        Err(Error::OtherTenant { commit: tenant.clone(), message: self.message.scope_id.clone() })
    }
}

impl<'a> Desk<'a> {
    pub fn new(store: &'a dyn Store, runtime: &'a dyn Runtime, telemetry: &'a dyn Telemetry) -> Self {
        Self { store, runtime, telemetry, max_deliveries: MAX_DELIVERIES }
    }

    /// A message is in somebody's hands from now on.
    pub(super) fn hand_over(&self, queue: Queue, message: QueueMessage, delivery: Delivery, attempt: u32) -> Leased {
        let waited = self.runtime.wall().since(message.created_at);
        let millis = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        self.tell(TelemetryName::QueueWaitMs, queue, &message, millis);
        Leased { message, delivery, queue, attempt, since: self.runtime.now(), heartbeats: 0 }
    }

    pub(super) fn tell(&self, name: TelemetryName, queue: Queue, message: &QueueMessage, value: u64) {
        self.tell_with(name, queue, message, value, &[]);
    }

    pub(super) fn tell_with(
        &self,
        event_name: TelemetryName,
        queue: Queue,
        message: &QueueMessage,
        value: u64,
        labels: &[(&str, String)],
    ) {
        self.telemetry.emit(QueueTelemetryEvent {
            event_name,
            trace_id: message.trace_id,
            queue_name: queue.name().to_owned(),
            message_id: Some(message.message_id),
            value,
            labels: labels.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
            created_at: self.runtime.wall(),
        });
    }

    /// The end of a lease, whichever: §2.2.2 wants its length and its heartbeats.
    pub(super) fn tell_duration(&self, leased: &Leased, ended_by: &str) {
        let length = self.runtime.now() - leased.since;
        let millis = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
        let labels = [("heartbeats", leased.heartbeats.to_string()), ("ended_by", ended_by.to_owned())];
        self.tell_with(TelemetryName::LeaseDurationMs, leased.queue, &leased.message, millis, &labels);
    }
}
