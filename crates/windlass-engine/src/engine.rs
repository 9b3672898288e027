//! The engine: one per process and data directory, cheap to clone.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windlass_domain::{Canceller, Runtime, Stop, TaskId, Tenant, Wall};
use windlass_policy::Redactor;
use windlass_store::queue::{Leased, Telemetry};
use windlass_store::{Commit, Committed, Error as StoreError, Store};

use crate::audit::{Heads, Keyring};
use crate::equipment::Equipment;
use crate::graph::Resting;
use crate::law::Law;
use crate::memories::Recollections;
use crate::process::{Machine, Process, retire_process};
use crate::timers::SetAside;
use crate::tripwire::{Tripwire, TripwirePoint};

/// A lease whose owner has shown no heartbeat for this long is another's to take.
pub(crate) const TIME_TO_LIVE: Duration = Duration::from_secs(9);

/// Everything an engine stands on.
pub struct EngineParts {
    pub store: Arc<dyn Store>,
    pub runtime: Arc<dyn Runtime>,
    pub equipment: Arc<dyn Equipment>,
    pub tenant: Tenant,
    pub redactor: Redactor,
    pub law: Law,
    /// Who is told how queues fare.
    pub telemetry: Arc<dyn Telemetry>,
    /// Where this process runs, and its file lock.
    pub machine: Machine,
    /// For disposable copies and traces; below the data directory.
    pub data_dir: PathBuf,
    /// Whose signatures count; without one nobody's do.
    pub keyring: Option<Arc<dyn Keyring>>,
    /// Where heads of the audit chain are kept; without it none are.
    pub heads: Option<Arc<dyn Heads>>,
    pub tripwire: Option<Arc<dyn Tripwire>>,
}

#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

/// What one tenant's work stands on: the house, and whose work it is.
pub(crate) struct Shared {
    pub tenant: Tenant,
    pub house: Arc<House>,
}

impl Deref for Shared {
    type Target = House;

    fn deref(&self) -> &House {
        &self.house
    }
}

/// What all tenants of this process share.
pub(crate) struct House {
    pub store: Arc<dyn Store>,
    pub runtime: Arc<dyn Runtime>,
    pub equipment: Arc<dyn Equipment>,
    pub redactor: Redactor,
    pub law: Law,
    pub telemetry: Arc<dyn Telemetry>,
    pub data_dir: PathBuf,
    pub keyring: Option<Arc<dyn Keyring>>,
    pub heads: Option<Arc<dyn Heads>>,
    pub process: Process,
    /// The tasks this process drives, and how to stop each.
    driven: Mutex<BTreeMap<TaskId, Canceller>>,
    /// The planned tasks that this process carries out with all who work for them, and how to stop each.
    families: Mutex<BTreeMap<TaskId, Canceller>>,
    /// Tasks that this process took in and has yet to drive, with their messages.
    in_hand: Mutex<BTreeMap<TaskId, Leased>>,
    /// Why something this process held could not be given back, once that has happened.
    kept: Mutex<Option<String>>,
    /// Sandbox providers that have denied, in this process, what they must.
    proved: Mutex<BTreeSet<String>>,
    /// Tenants whose orphaned folders this process has looked for.
    swept: Mutex<BTreeSet<Tenant>>,
    /// The earlier plans that tasks go on from, by what they call them.
    earlier: Mutex<BTreeMap<(Tenant, TaskId, String), TaskId>>,
    /// Graphs whose parts are at work, as they were when they were last driven.
    resting: Mutex<BTreeMap<(Tenant, TaskId), Resting>>,
    pub recollections: Recollections,
    pub set_aside: SetAside,
    tripwire: Option<Arc<dyn Tripwire>>,
}

impl Engine {
    pub fn new(parts: EngineParts) -> Self {
        let EngineParts { store, runtime, equipment, tenant, redactor, law, telemetry, .. } = parts;
        let EngineParts { machine, data_dir, keyring, heads, tripwire, .. } = parts;
        let house = House {
            store,
            runtime,
            equipment,
            redactor,
            law,
            telemetry,
            data_dir,
            keyring,
            heads,
            process: Process::new(machine),
            driven: Mutex::default(),
            families: Mutex::default(),
            in_hand: Mutex::default(),
            kept: Mutex::default(),
            proved: Mutex::default(),
            swept: Mutex::default(),
            earlier: Mutex::default(),
            resting: Mutex::default(),
            recollections: Recollections::default(),
            set_aside: SetAside::default(),
            tripwire,
        };
        Self { shared: Arc::new(Shared { tenant, house: Arc::new(house) }) }
    }

    /// The same engine for another tenant: it sees nothing of this one's.
    #[must_use]
    pub fn for_tenant(&self, tenant: Tenant) -> Self {
        Self { shared: Arc::new(Shared { tenant, house: Arc::clone(&self.shared.house) }) }
    }
}

impl Engine {
    /// A clean end of this process: what it held is free at once. Without it, its heartbeat's silence frees it.
    pub async fn close(&self) -> Result<(), crate::Error> {
        let sealed = self.seal().await;
        retire_process(&self.shared.house).await?;
        sealed
    }
}

impl House {
    pub fn lock_in_hand(&self) -> MutexGuard<'_, BTreeMap<TaskId, Leased>> {
        self.in_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn lock_earlier(&self) -> MutexGuard<'_, BTreeMap<(Tenant, TaskId, String), TaskId>> {
        self.earlier.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn lock_resting(&self) -> MutexGuard<'_, BTreeMap<(Tenant, TaskId), Resting>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn lock_driven(&self) -> MutexGuard<'_, BTreeMap<TaskId, Canceller>> {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn lock_families(&self) -> MutexGuard<'_, BTreeMap<TaskId, Canceller>> {
        self.families.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A lease or a message stays in this process's hands, where nobody else takes it, until the process ends.
    pub fn keep(&self, why: &dyn std::fmt::Display) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_string());
    }

    pub fn kept(&self) -> Option<String> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn is_proved(&self, sandbox: &str) -> bool {
        self.proved.lock().unwrap_or_else(PoisonError::into_inner).contains(sandbox)
    }

    pub fn prove(&self, sandbox: &str) {
        self.proved.lock().unwrap_or_else(PoisonError::into_inner).insert(sandbox.to_owned());
    }

    /// True once for each tenant.
    pub fn is_first_sweep(&self, tenant: &Tenant) -> bool {
        self.swept.lock().unwrap_or_else(PoisonError::into_inner).insert(tenant.clone())
    }

    pub fn stop_all(&self, reason: Stop) {
        self.lock_driven().values().for_each(|canceller| canceller.stop(reason));
    }

    pub async fn commit(&self, commit: Commit) -> Result<Committed, StoreError> {
        self.pass(TripwirePoint::BeforeCommit).await;
        let committed = self.store.commit(commit).await?;
        self.pass(TripwirePoint::AfterCommit).await;
        Ok(committed)
    }

    /// Runs work that blocks, and waits for what it returns.
    pub async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        self.runtime.blocking(work).await
    }

    pub fn wall(&self) -> Wall {
        self.runtime.wall()
    }

    pub async fn pass(&self, point: TripwirePoint) {
        if let Some(tripwire) = &self.tripwire {
            tripwire.pass(point).await;
        }
    }
}
