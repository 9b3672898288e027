//! What outlives every process of the world of engines: the store, the files, the clocks, the plan, the record of what
//! happened; and what an onlooker knows of each task, from the commits that went by.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_domain::approval::CardId;
use windlass_domain::task::{TaskEvent, TaskState, TaskStatus};
use windlass_domain::{MessageId, OwnerId, RequestId, Runtime, TaskId, Tenant};
use windlass_store::owner::OwnerChange;
use windlass_store::sqlite::SqliteStore;
use windlass_store::{Commit, DeliveryChange, Store as _};

use crate::curtain::Curtain;
use crate::engines::history::{EngineRecord, EngineWhat};
use crate::engines::passage::is_drive;
use crate::engines::plan::{Act, EnginePlan};
use crate::executor::{ProcessId, Simulation};
use crate::fuse::Point;
use crate::ledger::Ledger;
use crate::plan::Hints;
use crate::process::Process;
use crate::queues::Blow;
use crate::sandbox::Opened;
use crate::witness::Witness;

pub struct Scene {
    pub simulation: Simulation,
    pub store: Arc<SqliteStore>,
    pub plan: EnginePlan,
    pub folder: PathBuf,
    pub curtain: Curtain,
    pub ledger: Ledger,
    pub sandboxes: Opened,
    pub witness: Witness,
    blows: BTreeMap<(u8, u32), Blow>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: Vec<EngineRecord>,
    calls: u64,
    trace: DefaultHasher,
    calls_of: BTreeMap<u8, u32>,
    /// By how much each clock is wrong; `None`: all of them.
    wrong_by: BTreeMap<Option<u8>, i64>,
    tasks: BTreeMap<TaskId, Seen>,
    cards: Vec<(Tenant, CardId)>,
    questions: Vec<(Tenant, RequestId)>,
    owners: BTreeMap<OwnerId, ProcessId>,
    alive: BTreeSet<ProcessId>,
    /// In the executor's queue.
    open: BTreeSet<MessageId>,
    busy: usize,
}

/// A task as an onlooker knows it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub tenant: Tenant,
    pub state: TaskState,
}

impl Seen {
    pub fn is_paused(&self) -> bool {
        self.state.status == Some(TaskStatus::Paused)
    }

    /// The user's, where that is where it works: items have one of their own, and a planned task has others work.
    pub fn folder(&self) -> Option<&str> {
        let created = self.state.created.as_ref()?;
        let is_item = created.part_of.as_ref().is_some_and(|of| of.part.is_atom());
        (!created.planned && !is_item).then_some(created.workspace.as_str())
    }

    /// Whose part it is, where it is one.
    pub fn whole(&self) -> Option<TaskId> {
        self.state.created.as_ref()?.part_of.as_ref().map(|of| of.root)
    }

    pub fn is_asleep(&self) -> bool {
        self.state.status == Some(TaskStatus::Running) && self.state.is_parked()
    }
}

impl Scene {
    /// In `folder`, which is emptied first.
    pub fn new(plan: &EnginePlan, folder: &Path) -> Arc<Self> {
        let simulation = Simulation::new(plan.seed);
        let curtain = Curtain::new(folder);
        let bystander = Process::bystander(&simulation, curtain.clone());
        let store = SqliteStore::in_memory(Arc::new(bystander) as Arc<dyn Runtime>);
        let store = store.expect("a database in memory can be made");
        if plan.hints == Hints::Lost {
            store.notifier().drop_hints();
        }
        let blow = |act: &Act| match act {
            Act::Befalls { worker, call, blow } => Some(((*worker, *call), *blow)),
            _ => None,
        };
        let scene = Self {
            simulation,
            store: Arc::new(store),
            blows: plan.acts.iter().filter_map(blow).collect(),
            plan: plan.clone(),
            folder: folder.to_owned(),
            curtain,
            ledger: Ledger::default(),
            sandboxes: Opened::default(),
            witness: Witness::default(),
            state: Mutex::default(),
        };
        let _none = std::fs::remove_dir_all(folder);
        for folder in [scene.workspaces(), scene.data()] {
            std::fs::create_dir_all(folder).expect("the world has room");
        }
        Arc::new(scene)
    }

    pub fn workspaces(&self) -> PathBuf {
        self.folder.join("workspaces")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn tell(&self, process: ProcessId, what: EngineWhat) {
        let record = EngineRecord { at: self.simulation.now(), change: self.simulation.changes(), process, what };
        self.lock().records.push(record);
    }

    /// Counts a call; says what befalls the worker there.
    pub fn count(&self, process: ProcessId, worker: Option<u8>, point: Point) -> Option<Blow> {
        let now = self.simulation.now();
        let mut state = self.lock();
        state.calls += 1;
        (now, process.0, point.to_string()).hash(&mut state.trace);
        let worker = worker?;
        let call = state.calls_of.entry(worker).or_default();
        *call += 1;
        self.blows.get(&(worker, *call)).copied()
    }

    pub fn calls_and_trace(&self) -> (u64, u64) {
        let state = self.lock();
        (state.calls, state.trace.finish())
    }

    pub fn find_last<T>(&self, pick: impl Fn(&EngineWhat) -> Option<T>) -> Option<T> {
        self.lock().records.iter().rev().find_map(|record| pick(&record.what))
    }

    pub fn take_records(&self) -> Vec<EngineRecord> {
        std::mem::take(&mut self.lock().records)
    }

    pub fn set_clock(&self, worker: Option<u8>, by_millis: i64) {
        *self.lock().wrong_by.entry(worker).or_default() += by_millis;
    }

    pub fn wrong_by(&self, worker: Option<u8>) -> i64 {
        let state = self.lock();
        let wrong = |whose: Option<u8>| state.wrong_by.get(&whose).copied().unwrap_or_default();
        wrong(None) + if worker.is_some() { wrong(worker) } else { 0 }
    }

    /// Sees a commit go by.
    pub fn note(&self, process: ProcessId, commit: &Commit) {
        let mut state = self.lock();
        for change in &commit.owners {
            if let OwnerChange::Register(new) = change {
                state.owners.insert(new.id, process);
            }
        }
        let drives = commit.messages.iter().filter(|message| is_drive(&message.queue));
        state.open.extend(drives.map(|message| message.message_id));
        for change in &commit.deliveries {
            if let DeliveryChange::Ack(delivery) = change {
                state.open.remove(&delivery.message_id);
            }
        }
        for event in &commit.events {
            let (encoded, id) = (&event.encoded, event.stream.id());
            match (event.stream.kind(), encoded.kind) {
                ("task", _) => {
                    let read = TaskEvent::decode(encoded.kind, encoded.version, encoded.data.get());
                    let (Ok(task), Ok(read)) = (id.parse(), read) else { continue };
                    let new = || Seen { tenant: commit.tenant.clone(), state: TaskState::default() };
                    state.tasks.entry(task).or_insert_with(new).state.apply(&read, event.at);
                }
                ("question", "question.asked") => {
                    if let Ok(question) = id.parse() {
                        state.questions.push((commit.tenant.clone(), question));
                    }
                }
                ("approval", "approval.requested") => {
                    if let Ok(card) = id.parse() {
                        state.cards.push((commit.tenant.clone(), card));
                    }
                }
                _ => {}
            }
        }
    }

    pub fn tasks(&self) -> BTreeMap<TaskId, Seen> {
        self.lock().tasks.clone()
    }

    pub fn task(&self, task: TaskId) -> Option<Seen> {
        self.lock().tasks.get(&task).cloned()
    }

    /// Those that were put after the first `known`.
    pub fn cards(&self, known: usize) -> Vec<(Tenant, CardId)> {
        self.lock().cards[known..].to_vec()
    }

    /// Those that were put after the first `known`.
    pub fn questions(&self, known: usize) -> Vec<(Tenant, RequestId)> {
        self.lock().questions[known..].to_vec()
    }

    /// The first task that a client was told its job is.
    pub fn task_of(&self, job: u8) -> Option<TaskId> {
        let state = self.lock();
        state.records.iter().find_map(|record| match record.what {
            EngineWhat::Submitted { job: whose, task } if whose == job => Some(task),
            _ => None,
        })
    }

    /// How often the worker was started before.
    pub fn lives(&self, worker: Option<u8>) -> u64 {
        let state = self.lock();
        let started =
            |what: &EngineWhat| matches!(what, EngineWhat::Started { worker: whose } if Some(*whose) == worker);
        state.records.iter().filter(|record| started(&record.what)).count() as u64
    }

    pub fn began(&self, process: ProcessId) {
        self.lock().alive.insert(process);
    }

    pub fn ended(&self, process: ProcessId) {
        self.lock().alive.remove(&process);
    }

    /// Whether it lives, and nothing has held it up for longer than a moment.
    pub fn is_at_work(&self, process: ProcessId) -> bool {
        let state = self.lock();
        let found_no_room = |record: &EngineRecord| {
            record.process == process && matches!(record.what, EngineWhat::NoRoom | EngineWhat::Suffered { .. })
        };
        state.alive.contains(&process)
            && !self.simulation.is_stalled(process)
            && !state.records.iter().any(found_no_room)
    }

    pub fn process_of(&self, owner: OwnerId) -> Option<ProcessId> {
        self.lock().owners.get(&owner).copied()
    }

    /// Somebody outside has begun something that a history waits for.
    pub fn busy(&self) {
        self.lock().busy += 1;
    }

    pub fn idle(&self) {
        self.lock().busy -= 1;
    }

    /// Everybody outside is done, every task is over and out of the queue, and nobody is stopped who might still do something when woken.
    pub fn is_quiet(&self) -> bool {
        let state = self.lock();
        let all_over = state.tasks.values().all(|seen| seen.state.is_over());
        state.busy == 0 && all_over && state.open.is_empty() && !self.simulation.is_anyone_stalled()
    }
}

pub fn tenant(number: u8) -> Tenant {
    Tenant::new(format!("tenant-{number}"))
}

pub const TENANTS: u8 = 3;
