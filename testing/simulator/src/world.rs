//! What outlives every process: the store, the files, the ledger, the clock. And how a process is put into it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use futures_util::FutureExt;
use windlass_domain::{Runtime, Tenant};
use windlass_engine::{Engine, EngineParts, Law, Machine};
use windlass_policy::Redactor;
use windlass_store::queue::Silent;
use windlass_store::sqlite::SqliteStore;
use windlass_store::{OwnerLocks, Reply, Store};

use crate::commit_log::CommitLog;
use crate::curtain::Curtain;
use crate::engine_passage::EnginePassage;
use crate::equipment::{ProcessEquipment, ProcessTripwire};
use crate::executor::Simulation;
use crate::fuse::Fuse;
use crate::ledger::Ledger;
use crate::plan::{Hints, Plan, Proof};
use crate::process::{Chance, Process};
use crate::sandbox::{Opened, ScriptedSandboxes};
use crate::scenario::Scenario;
use crate::store::ProcessStore;
use crate::witness::Witness;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new([]));

pub struct World {
    pub simulation: Simulation,
    pub store: Arc<SqliteStore>,
    pub tenant: Tenant,
    pub folder: PathBuf,
    pub curtain: Curtain,
    pub ledger: Ledger,
    pub log: CommitLog,
    pub witness: Witness,
    plan: Plan,
}

impl World {
    /// In `folder`, which is emptied first.
    pub fn new(scenario: &Scenario, plan: &Plan, folder: &Path) -> Self {
        let simulation = Simulation::new(plan.seed);
        simulation.be_patient(scenario.most_polls);
        let curtain = Curtain::new(folder);
        let bystander: Arc<dyn Runtime> = Arc::new(Process::bystander(&simulation, curtain.clone()));
        let store = SqliteStore::in_memory(bystander).expect("a database in memory can be made");
        if plan.hints == Hints::Lost {
            store.notifier().drop_hints();
        }
        let world = Self {
            simulation,
            store: Arc::new(store),
            tenant: Tenant::new("simulated"),
            folder: folder.to_owned(),
            curtain,
            ledger: Ledger::default(),
            log: CommitLog::default(),
            witness: Witness::default(),
            plan: plan.clone(),
        };
        world.lay_out(scenario);
        world
    }

    fn lay_out(&self, scenario: &Scenario) {
        let _none = std::fs::remove_dir_all(&self.folder);
        for folder in [self.workspace(), self.data()] {
            std::fs::create_dir_all(folder).expect("the world has room");
        }
        for (name, content) in &scenario.files {
            std::fs::write(self.workspace().join(name), content).expect("the world has room");
        }
    }

    pub fn workspace(&self) -> PathBuf {
        self.folder.join("workspace")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub fn process(&self, fuse: Arc<Fuse>) -> Process {
        Process::new(&self.simulation, fuse, self.curtain.clone(), Chance::Common)
    }

    pub fn engine(&self, process: &Process) -> Engine {
        let plant = self.plan.plant;
        let sandboxes = ScriptedSandboxes {
            process: process.clone(),
            ledger: self.ledger.clone(),
            workspaces: self.workspace(),
            open: Opened::default(),
            plant,
        };
        let equipment = ProcessEquipment {
            process: process.clone(),
            sandboxes: Arc::new(sandboxes),
            objects: self.data().join("objects"),
            witness: self.witness.clone(),
        };
        let inner: Arc<dyn Store> = self.store.clone();
        let passage = EnginePassage { process: process.clone(), log: self.log.clone(), plant };
        Engine::new(EngineParts {
            store: Arc::new(ProcessStore { passage, inner }),
            runtime: Arc::new(process.clone()),
            equipment: Arc::new(equipment),
            tenant: self.tenant.clone(),
            redactor: REDACTOR.clone(),
            law: Law::default(),
            telemetry: Arc::new(Silent),
            machine: self.machine(process),
            data_dir: self.data(),
            keyring: None,
            heads: None,
            tripwire: Some(Arc::new(ProcessTripwire { process: process.clone() })),
        })
    }

    fn machine(&self, process: &Process) -> Machine {
        let (host, boot_id) = ("harbour".to_owned(), "boot-1".to_owned());
        let locks = match self.plan.proof {
            Proof::Heartbeat => None,
            Proof::Lock => Some(OwnerLocks::new(&self.data(), host.as_str(), boot_id.as_str())),
        };
        Machine { host, boot_id, pid: process.id.0 + 1, locks }
    }

    /// In memory the store answers at once.
    pub fn ask<T>(&self, ask: impl FnOnce(&SqliteStore) -> Reply<'_, T>) -> T {
        let answer = ask(&self.store).now_or_never().expect("in memory the store answers at once");
        answer.expect("a database in memory can be read")
    }
}
