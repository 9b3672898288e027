//! A process with an engine in it: the product's own, over this world's store, clocks and equipment, under a law by which
//! some of the tiny language's commands need a person and some are never allowed.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use windlass_engine::{Engine, EngineParts, Keyring, Law, Machine, Unsigned};
use windlass_policy::Redactor;
use windlass_policy::approve::{OwnerKey, PublicKeys};
use windlass_policy::risk::Table;
use windlass_store::Store;
use windlass_store::queue::Silent;

use crate::engines::EngineBug;
use crate::engines::misfortune::Misfortune;
use crate::engines::passage::EnginesPassage;
use crate::engines::scene::{Scene, tenant};
use crate::equipment::{ProcessEquipment, ProcessTripwire};
use crate::plant::Plant;
use crate::process::{Chance, Process};
use crate::sandbox::ScriptedSandboxes;
use crate::store::ProcessStore;

/// How long a card waits, and a token holds.
pub const CARD_LIFETIME: Duration = Duration::from_secs(8);

/// The same where planners are waited for.
const PLAN_LIFETIME: Duration = Duration::from_secs(600);

pub static KEY: LazyLock<OwnerKey> = LazyLock::new(|| OwnerKey::new(&[7; 32]));
static KEYS: LazyLock<PublicKeys> = LazyLock::new(|| {
    let mut keys = PublicKeys::default();
    keys.add(&KEY.public()).expect("a good key");
    keys
});
static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new([]));
/// Read once: it is longer than a history.
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let own = "[program.haul]\nlevel = \"high\"\n[program.raze]\nlevel = \"critical\"\n";
    Table::shipped().changed_by(own).expect("a good table")
});

struct OneKey;

impl Keyring for OneKey {
    fn public_keys(&self) -> Result<PublicKeys, String> {
        Ok(KEYS.clone())
    }
}

pub struct House {
    pub process: Process,
    pub fortune: Arc<Misfortune>,
    /// Of the first tenant; `for_tenant` gives the others.
    pub engine: Engine,
    pub store: Arc<ProcessStore<EnginesPassage>>,
}

impl House {
    pub fn new(scene: &Arc<Scene>, worker: Option<u8>) -> Arc<Self> {
        let fortune = Misfortune::new(scene, worker);
        let number = worker.map_or(0, |worker| u64::from(worker) + 1);
        let lives = scene.lives(worker);
        let chance = Chance::own(scene.plan.seed.rotate_left(17) ^ (number << 8 | lives).wrapping_mul(0x9E37_79B9));
        let process = Process::new(&scene.simulation, fortune.clone(), scene.curtain.clone(), chance);
        scene.began(process.id);
        let passage =
            EnginesPassage { process: process.clone(), fortune: Arc::clone(&fortune), scene: Arc::clone(scene) };
        let inner: Arc<dyn Store> = scene.store.clone();
        let store = Arc::new(ProcessStore { passage, inner });
        let engine = Engine::new(parts(scene, &process, store.clone()));
        Arc::new(Self { process, fortune, engine, store })
    }

    pub fn scene(&self) -> &Arc<Scene> {
        &self.fortune.scene
    }
}

fn parts(scene: &Scene, process: &Process, store: Arc<dyn Store>) -> EngineParts {
    let plant = match scene.plan.bug {
        EngineBug::EffectsTwice => Plant::EffectsTwice,
        EngineBug::EditsOverwritten => Plant::EditsOverwritten,
        EngineBug::JoinsBelieved => Plant::FailuresPass,
        _ => Plant::Nothing,
    };
    let sandboxes = ScriptedSandboxes {
        process: process.clone(),
        ledger: scene.ledger.clone(),
        workspaces: scene.workspaces(),
        open: scene.sandboxes.clone(),
        plant,
    };
    let equipment = ProcessEquipment {
        process: process.clone(),
        sandboxes: Arc::new(sandboxes),
        objects: scene.data().join("objects"),
        witness: scene.witness.clone(),
    };
    let is_planned = scene.plan.projects().next().is_some();
    let card_lifetime = if is_planned { PLAN_LIFETIME } else { CARD_LIFETIME };
    let (unsigned, sandbox) = (Unsigned::Refused, "scripted".to_owned());
    // Items are played by whoever their plan names.
    let law = Law { card_lifetime, unsigned, sandbox, agents: None, ..Law::new(TABLE.clone()) };
    EngineParts {
        store,
        runtime: Arc::new(process.clone()),
        equipment: Arc::new(equipment),
        tenant: tenant(0),
        redactor: REDACTOR.clone(),
        law,
        telemetry: Arc::new(Silent),
        machine: Machine { host: "harbour".into(), boot_id: "boot-1".into(), pid: process.id.0 + 1, locks: None },
        data_dir: scene.data(),
        keyring: Some(Arc::new(OneKey)),
        heads: None,
        tripwire: Some(Arc::new(ProcessTripwire { process: process.clone() })),
    }
}
