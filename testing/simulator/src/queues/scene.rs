//! What outlives every process of the world of queues: the store, the clocks, the plan, and the record of what happened.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windlass_domain::{MessageId, OwnerId, Runtime, Tenant, Wall};
use windlass_store::sqlite::SqliteStore;
use windlass_store::{Commit, DeliveryChange, Store};

use crate::curtain::Curtain;
use crate::executor::{ProcessId, Simulation};
use crate::fuse::{Point, Side};
use crate::plan::Hints;
use crate::process::{BEGINNING, Process};
use crate::queues::{Act, Blow, QueuePlan, Record, Request, What};

pub struct Scene {
    pub simulation: Simulation,
    pub store: Arc<SqliteStore>,
    pub plan: QueuePlan,
    requests: BTreeMap<u16, Request>,
    blows: BTreeMap<(u8, u32), Blow>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: Vec<Record>,
    calls: u64,
    trace: DefaultHasher,
    calls_of: BTreeMap<u8, u32>,
    owner_of: BTreeMap<u8, OwnerId>,
    /// By how much each clock is wrong; `None`: all of them.
    wrong_by: BTreeMap<Option<u8>, i64>,
    open: BTreeSet<MessageId>,
    dead: BTreeSet<MessageId>,
    clients: usize,
}

impl Scene {
    pub fn new(plan: &QueuePlan) -> Arc<Self> {
        let simulation = Simulation::new(plan.seed);
        let bystander = Process::bystander(&simulation, Curtain::new(Path::new("nowhere")));
        let store = SqliteStore::in_memory(Arc::new(bystander) as Arc<dyn Runtime>);
        let store = store.expect("a database in memory can be made");
        if plan.hints == Hints::Lost {
            store.notifier().drop_hints();
        }
        let blow = |act: &Act| match act {
            Act::Befalls { worker, call, blow } => Some(((*worker, *call), *blow)),
            _ => None,
        };
        Arc::new(Self {
            simulation,
            store: Arc::new(store),
            requests: plan.requests().map(|request| (request.number, request.clone())).collect(),
            blows: plan.acts.iter().filter_map(blow).collect(),
            plan: plan.clone(),
            state: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn tell(&self, process: ProcessId, what: What) {
        let record = Record { at: self.simulation.now(), process, what };
        self.lock().records.push(record);
    }

    /// Counts a call; says what befalls the worker there.
    pub fn count(&self, process: ProcessId, worker: Option<u8>, point: Point) -> Option<Blow> {
        let now = self.simulation.now();
        let mut state = self.lock();
        state.calls += 1;
        if let Point::Store(verb, side) = point {
            (now, process.0, verb, side == Side::After).hash(&mut state.trace);
        }
        let worker = worker?;
        let call = state.calls_of.entry(worker).or_default();
        *call += 1;
        self.blows.get(&(worker, *call)).copied()
    }

    pub fn calls_and_trace(&self) -> (u64, u64) {
        let state = self.lock();
        (state.calls, state.trace.finish())
    }

    pub fn find_last<T>(&self, pick: impl Fn(&What) -> Option<T>) -> Option<T> {
        self.lock().records.iter().rev().find_map(|record| pick(&record.what))
    }

    pub fn take_records(&self) -> Vec<Record> {
        std::mem::take(&mut self.lock().records)
    }

    pub fn request(&self, number: u16) -> &Request {
        &self.requests[&number]
    }

    pub fn set_clock(&self, worker: Option<u8>, by_millis: i64) {
        *self.lock().wrong_by.entry(worker).or_default() += by_millis;
    }

    pub fn wall(&self, worker: Option<u8>) -> Wall {
        let state = self.lock();
        let wrong = |whose: Option<u8>| state.wrong_by.get(&whose).copied().unwrap_or_default();
        let wrong = wrong(None) + if worker.is_some() { wrong(worker) } else { 0 };
        let right = BEGINNING + self.simulation.now();
        Wall::from_millis(right.as_millis().saturating_add_signed(wrong))
    }

    /// The id that the worker had before.
    pub fn owner_of(&self, worker: u8) -> Option<OwnerId> {
        self.lock().owner_of.get(&worker).copied()
    }

    pub fn set_owner(&self, worker: u8, owner: OwnerId) {
        self.lock().owner_of.insert(worker, owner);
    }

    /// Keeps count of what is still to be done, so that somebody knows when a history is over.
    pub fn note(&self, commit: &Commit) {
        let mut state = self.lock();
        state.open.extend(commit.messages.iter().map(|message| message.message_id));
        for change in &commit.deliveries {
            match change {
                DeliveryChange::Ack(delivery) => drop(state.open.remove(&delivery.message_id)),
                DeliveryChange::Dead { delivery, .. } => {
                    state.open.remove(&delivery.message_id);
                    state.dead.insert(delivery.message_id);
                }
                DeliveryChange::Retry(message) => drop(state.open.insert(*message)),
                DeliveryChange::Drop(_)
                | DeliveryChange::Lease { .. }
                | DeliveryChange::Nack { .. }
                | DeliveryChange::Hasten(_) => {}
            }
        }
    }

    pub fn has_dead_letters(&self) -> bool {
        !self.lock().dead.is_empty()
    }

    pub fn client_began(&self) {
        self.lock().clients += 1;
    }

    pub fn client_ended(&self) {
        self.lock().clients -= 1;
    }

    /// Every client has its answer, no message waits, and nobody is stopped who might still do something when woken.
    pub fn is_quiet(&self) -> bool {
        let state = self.lock();
        state.clients == 0 && state.open.is_empty() && !self.simulation.is_anyone_stalled()
    }
}

pub fn tenant(number: u8) -> Tenant {
    Tenant::new(format!("tenant-{number}"))
}

/// What a worker does again after a refusal, it does after so long.
pub const AGAIN: Duration = Duration::from_millis(300);
