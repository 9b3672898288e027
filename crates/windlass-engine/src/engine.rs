//! The engine: one per process and data directory, cheap to clone.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windlass_domain::coordinate::UserState;
use windlass_domain::session::SessionState;
use windlass_domain::{Canceller, ExecutionId, Runtime, Stop, TaskId, Tenant, Wall};
use windlass_policy::Redactor;
use windlass_store::queue::{Leased, Telemetry};
use windlass_store::{Commit, Committed, Error as StoreError, Store, StreamId};

use crate::attempt::AtWork;
use crate::audit::{Heads, Keyring};
use crate::belonging::Belonging;
use crate::coordinate::{Dated, user_weight};
use crate::equipment::Equipment;
use crate::follow::Journal;
use crate::graph::Resting;
use crate::kept::Kept;
use crate::law::Law;
use crate::memories::Recollections;
use crate::process::{Machine, Process, owner, retire_process};
use crate::retention::Expired;
use crate::room::Newcomers;
use crate::story::{Index, KeptExecution, KeptOutline, execution_weight};
use crate::stream_journal::KeptStates;
use crate::timers::SetAside;
use crate::tripwire::{Tripwire, TripwirePoint};
use crate::turns::session_weight;
use crate::turnstiles::Turnstiles;

/// A lease whose owner has shown no heartbeat for this long is another's to take.
pub(crate) const TIME_TO_LIVE: Duration = Duration::from_secs(9);
/// In bytes, what is remembered for whoever asks again (`kept`).
const MOST_OF_SESSIONS: usize = 32 << 20;
const MOST_OF_USERS: usize = 4 << 20;
const MOST_OF_STORIES: usize = 16 << 20;
const MOST_OF_EXECUTIONS: usize = 32 << 20;
const MOST_OF_OUTLINES: usize = 32 << 20;
const MOST_OF_BELONGINGS: usize = 4 << 20;
const MOST_OF_DATED: usize = 16 << 20;
const MOST_OF_TOLD: usize = 16 << 20;

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
    /// In whose name this engine is used, where its door knows them.
    pub name: Option<Arc<str>>,
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
    driven: Mutex<BTreeMap<TaskId, AtWork>>,
    /// Whose they are.
    tenants: Mutex<BTreeMap<TaskId, Tenant>>,
    /// Why this process takes nothing new, for as long as the disk is nearly full.
    short_of_room: Mutex<Option<String>>,
    newcomers: Mutex<Newcomers>,
    /// The planned tasks that this process carries out with all who work for them, and how to stop each.
    families: Mutex<BTreeMap<TaskId, Canceller>>,
    /// Tasks that this process took in and has yet to drive, with their messages.
    in_hand: Mutex<BTreeMap<TaskId, Leased>>,
    /// Why something this process held could not be given back, once that has happened.
    kept: Mutex<Option<crate::Error>>,
    /// Sandbox providers that have denied, in this process, what they must.
    proved: Mutex<BTreeSet<String>>,
    /// Tenants whose orphaned folders this process has looked for.
    swept: Mutex<BTreeSet<Tenant>>,
    /// Expired tasks of which nothing is left but files that could not be removed.
    stuck: Mutex<BTreeMap<(Tenant, TaskId), Expired>>,
    /// The earlier plans that tasks go on from, by what they call them.
    earlier: Mutex<BTreeMap<(Tenant, TaskId, String), TaskId>>,
    /// Graphs whose parts are at work, as they were when they were last driven.
    resting: Mutex<BTreeMap<(Tenant, TaskId), Resting>>,
    /// Conversations and whoever has them, as they stood when somebody last looked.
    pub sessions: KeptStates<SessionState>,
    pub users: KeptStates<UserState>,
    /// Where the records of stories stand, how executions stand, and where their turns do, for whoever looks at them.
    pub stories: Kept<(Tenant, Journal), Index>,
    pub executions: Kept<(Tenant, ExecutionId), KeptExecution>,
    pub outlines: Kept<(Tenant, ExecutionId), KeptOutline>,
    /// Tasks of conversations, with the times at which their status changed.
    pub dated: Kept<(Tenant, TaskId), Dated>,
    /// Tasks as they stood at the record of which a channel was told last.
    pub told: Kept<(Tenant, TaskId), Dated>,
    /// What streams are parts of.
    pub belongings: Kept<(Tenant, StreamId), Belonging>,
    pub recollections: Recollections,
    pub set_aside: SetAside,
    pub turnstiles: Turnstiles,
    tripwire: Option<Arc<dyn Tripwire>>,
}

impl Engine {
    pub fn new(parts: EngineParts) -> Self {
        let process = Process::new(parts.machine.clone());
        Self::of(parts, process)
    }

    /// For a machine that is lost.
    pub(crate) fn standing_in(parts: EngineParts) -> Self {
        let process = Process::standing_in(parts.machine.clone());
        Self::of(parts, process)
    }

    fn of(parts: EngineParts, process: Process) -> Self {
        let EngineParts { store, runtime, equipment, tenant, redactor, law, telemetry, .. } = parts;
        let EngineParts { data_dir, keyring, heads, tripwire, .. } = parts;
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
            process,
            driven: Mutex::default(),
            tenants: Mutex::default(),
            short_of_room: Mutex::default(),
            newcomers: Mutex::new(Newcomers::Rest),
            families: Mutex::default(),
            in_hand: Mutex::default(),
            kept: Mutex::default(),
            proved: Mutex::default(),
            swept: Mutex::default(),
            stuck: Mutex::default(),
            earlier: Mutex::default(),
            resting: Mutex::default(),
            sessions: Kept::new(MOST_OF_SESSIONS, session_weight),
            users: Kept::new(MOST_OF_USERS, user_weight),
            stories: Kept::new(MOST_OF_STORIES, Index::weight),
            executions: Kept::new(MOST_OF_EXECUTIONS, execution_weight),
            outlines: Kept::new(MOST_OF_OUTLINES, KeptOutline::weight),
            dated: Kept::new(MOST_OF_DATED, Dated::weight),
            told: Kept::new(MOST_OF_TOLD, Dated::weight),
            belongings: Kept::new(MOST_OF_BELONGINGS, Belonging::weight),
            recollections: Recollections::default(),
            set_aside: SetAside::default(),
            turnstiles: Turnstiles::default(),
            tripwire,
        };
        Self { shared: Arc::new(Shared { tenant, name: None, house: Arc::new(house) }) }
    }

    /// The same engine for another tenant: it sees nothing of this one's.
    #[must_use]
    pub fn for_tenant(&self, tenant: Tenant) -> Self {
        Self { shared: Arc::new(Shared { tenant, name: None, house: Arc::clone(&self.shared.house) }) }
    }

    /// The same engine for somebody whom records know by this name: what they sign by their own word says so.
    #[must_use]
    pub fn in_the_name_of(&self, name: &str) -> Self {
        let Shared { tenant, house, .. } = self.shared.as_ref();
        let shared = Shared { tenant: tenant.clone(), name: Some(name.into()), house: Arc::clone(house) };
        Self { shared: Arc::new(shared) }
    }
}

impl Engine {
    /// From now on this process is among those at work, also where it takes nothing in hand: what it reads and writes for others must be
    /// what everybody can read. Refused where the journal holds what it cannot.
    pub async fn enlist(&self) -> Result<(), crate::Error> {
        Ok(owner(&self.shared.house).await.map(drop)?)
    }

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

    pub fn lock_stuck(&self) -> MutexGuard<'_, BTreeMap<(Tenant, TaskId), Expired>> {
        self.stuck.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn lock_driven(&self) -> MutexGuard<'_, BTreeMap<TaskId, AtWork>> {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn lock_tenants(&self) -> MutexGuard<'_, BTreeMap<TaskId, Tenant>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that this process works on, whoever's it is.
    pub fn driven_tasks(&self) -> Vec<(Tenant, TaskId)> {
        self.lock_tenants().iter().map(|(task, tenant)| (tenant.clone(), *task)).collect()
    }

    pub fn short_of_room(&self) -> Option<String> {
        self.short_of_room.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_short_of_room(&self, why: Option<String>) {
        *self.short_of_room.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    pub fn newcomers(&self) -> Newcomers {
        *self.newcomers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_newcomers(&self, newcomers: Newcomers) {
        *self.newcomers.lock().unwrap_or_else(PoisonError::into_inner) = newcomers;
    }

    pub fn lock_families(&self) -> MutexGuard<'_, BTreeMap<TaskId, Canceller>> {
        self.families.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A lease or a message stays in this process's hands, where nobody else takes it, until the process ends or begins anew.
    pub fn keep(&self, why: crate::Error) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    pub fn take_kept(&self) -> Option<crate::Error> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).take()
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
        self.lock_driven().values().for_each(|at_work| at_work.canceller.stop(reason));
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
