//! One process of the world of queues: its clocks, its chance, and what befalls it where it calls the store. A bug of the
//! store is planted here as well: the store itself is the real one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windlass_domain::{BoxFuture, Instant, Runtime, Tenant, Wall};
use windlass_store::{Commit, Committed, DeliveryChange, Error, LeasedMessage, Reply, Store};

use crate::dice::Dice;
use crate::executor::ProcessId;
use crate::fuse::Point;
use crate::process::{dawdle, step_aside};
use crate::queues::scene::Scene;
use crate::queues::worker::QUEUES;
use crate::queues::{Blow, Bug, What};
use crate::store::{Passage, ProcessStore};

pub struct QueueProcess {
    pub id: ProcessId,
    pub scene: Arc<Scene>,
    /// `None`: it is no worker, and nothing befalls it.
    pub worker: Option<u8>,
    born: Duration,
    /// How long its monotonic clock has stood still.
    frozen: Mutex<Duration>,
    dice: Mutex<Dice>,
    disk_is_full: AtomicBool,
    is_leaving: AtomicBool,
}

/// The store as one process sees it.
pub type QueueStore = ProcessStore<Arc<QueueProcess>>;

impl QueueProcess {
    pub fn new(scene: &Arc<Scene>, worker: Option<u8>) -> Arc<Self> {
        let id = scene.simulation.add_process();
        let seed = scene.plan.seed.rotate_left(17) ^ u64::from(id.0).wrapping_mul(0x9E37_79B9);
        Arc::new(Self {
            id,
            scene: Arc::clone(scene),
            worker,
            born: scene.simulation.now(),
            frozen: Mutex::default(),
            dice: Mutex::new(Dice::new(seed)),
            disk_is_full: AtomicBool::new(false),
            is_leaving: AtomicBool::new(false),
        })
    }

    pub fn store(self: &Arc<Self>) -> Arc<QueueStore> {
        Arc::new(ProcessStore { passage: Arc::clone(self), inner: self.scene.store.clone() })
    }

    fn roll<T>(&self, with: impl FnOnce(&mut Dice) -> T) -> T {
        with(&mut self.dice.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn tell(&self, what: What) {
        self.scene.tell(self.id, what);
    }

    pub fn bug(&self) -> Bug {
        self.scene.plan.bug
    }

    pub fn is_leaving(&self) -> bool {
        self.is_leaving.load(Ordering::Relaxed)
    }

    fn frozen(&self) -> MutexGuard<'_, Duration> {
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn suffer(&self, blow: Blow, point: Point) {
        if let Some(worker) = self.worker {
            self.tell(What::Suffered { worker, blow, point });
        }
        match blow {
            Blow::Dies { .. } => self.scene.simulation.kill_current(),
            Blow::Stops(length) => self.scene.simulation.stall(self.id, length),
            Blow::Freezes(length) => {
                *self.frozen() += length;
                self.scene.simulation.stall(self.id, length);
            }
            Blow::DiskFull => self.disk_is_full.store(true, Ordering::Relaxed),
            Blow::Leaves => self.is_leaving.store(true, Ordering::Relaxed),
        }
    }

    /// What the store does instead, where a bug is planted in it.
    async fn spoil(&self, store: &dyn Store, commit: &mut Commit) -> Result<(), Error> {
        match self.bug() {
            Bug::NoNonce => commit.nonces.clear(),
            Bug::NoFence => {
                commit.processed.clear();
                for change in &mut commit.deliveries {
                    if let DeliveryChange::Ack(delivery) = change
                        && let Some(found) = held(store, delivery.message_id).await?
                    {
                        *delivery = found.delivery;
                    }
                }
            }
            Bug::TenantsMixed => {
                if let [DeliveryChange::Ack(delivery)] = &commit.deliveries[..]
                    && let Some(found) = held(store, delivery.message_id).await?
                {
                    commit.tenant = found.message.tenant;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A commit that nobody but a client makes: it enqueues, and is done with nothing.
    fn is_swallowed(&self, commit: &Commit) -> bool {
        self.bug() == Bug::Swallowed && self.worker.is_none() && !commit.messages.is_empty()
    }
}

async fn held(store: &dyn Store, message: windlass_domain::MessageId) -> Result<Option<LeasedMessage>, Error> {
    for queue in QUEUES {
        let mut leased = store.leased(queue.name(), usize::MAX >> 1).await?.into_iter();
        if let Some(found) = leased.find(|leased| leased.delivery.message_id == message) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

impl Passage for Arc<QueueProcess> {
    fn pass(&self, point: Point) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some(blow) = self.scene.count(self.id, self.worker, point) {
                self.suffer(blow, point);
            }
            while self.scene.simulation.is_stalled(self.id) {
                step_aside().await;
            }
            // By its own dice: what others do not do changes nothing here, which is what makes a history shrink.
            dawdle(&self.scene.simulation, |bound| self.roll(|dice| dice.below(bound))).await;
        })
    }

    /// The commit and its record are one: in memory the store answers at once.
    fn write<'a>(&'a self, store: &'a dyn Store, commit: Commit) -> Reply<'a, Committed> {
        Box::pin(async move {
            if self.disk_is_full.swap(false, Ordering::Relaxed) {
                self.tell(What::NoRoom);
                return Err(Error::DiskFull { path: "disk".into() });
            }
            let mut given = commit.clone();
            self.spoil(store, &mut given).await?;
            let committed = match self.is_swallowed(&commit) {
                true => Committed::default(),
                false => store.commit(given).await?,
            };
            if !self.is_swallowed(&commit) {
                self.scene.note(&commit);
            }
            self.tell(What::Committed(Box::new((commit, committed.clone()))));
            Ok(committed)
        })
    }

    fn turn<'a>(&self, after_tenant: Option<&'a Tenant>) -> Option<&'a Tenant> {
        after_tenant.filter(|_| self.bug() != Bug::Unfair)
    }
}

impl Runtime for QueueProcess {
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.scene.simulation.spawn(self.id, task);
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        let begun = self.born + *self.frozen();
        self.scene.simulation.sleep_until(begun.saturating_add(deadline.elapsed_since_start()))
    }

    fn block(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        Box::pin(async move { work() })
    }

    fn now(&self) -> Instant {
        let elapsed = self.scene.simulation.now() - self.born;
        Instant::since_start(elapsed.saturating_sub(*self.frozen()))
    }

    fn wall(&self) -> Wall {
        self.scene.wall(self.worker)
    }

    fn random(&self) -> u128 {
        self.roll(Dice::wide)
    }
}
