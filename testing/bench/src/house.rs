//! An engine as a library, for what is measured inside one process: a real store, the native loop over rehearsals, the tools
//! of each role, and one key. What it is given besides is what the binary gives it. No sandbox is opened; nothing that is
//! measured this way uses one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use windlass_agent::{NativeRunner, Settings};
use windlass_domain::approval::{Answer, Strength, Verdict};
use windlass_domain::task::ExecutionConfig;
use windlass_domain::{BaseCase, Budget, ErrorDetails, Role, Runner, Runtime, Taint, Tenant, Workspace};
use windlass_engine::{
    Engine, EngineParts, Equipment, Keyring, Law, Machine, Order, Planning, Submission, SubmittedModel,
};
use windlass_llm::{Rehearsal, Script, Setup};
use windlass_policy::Redactor;
use windlass_policy::approve::{OwnerKey, PublicKeys};
use windlass_runtime::TokioRuntime;
use windlass_sandbox::{Policy, Provider};
use windlass_store::OwnerLocks;
use windlass_store::queue::Silent;
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_tools::{Confinement, Context, Kit, Limits, RESEARCH_TOOL_ALLOWLIST, Toolset};
use windlass_workspace::{SnapshotSetup, Snapshots};

use crate::measure::agents::{NeverOpened, internal};

pub struct House {
    pub engine: Engine,
    pub key: OwnerKey,
}

impl House {
    /// With its data in `folder`.
    pub fn open(folder: &Path, handle: tokio::runtime::Handle) -> anyhow::Result<Self> {
        Self::equipped(folder, handle, |runtime| {
            Arc::new(Rehearsed { runtime, scripts: Mutex::default(), data: folder.to_owned() })
        })
    }

    /// With other equipment than the native loop.
    pub fn equipped(
        folder: &Path,
        handle: tokio::runtime::Handle,
        equip: impl FnOnce(Arc<dyn Runtime>) -> Arc<dyn Equipment>,
    ) -> anyhow::Result<Self> {
        let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::new(handle));
        let store = SqliteStore::open(Options::new(folder), Arc::clone(&runtime))?;
        let key = OwnerKey::new(&[7; 32]);
        let mut keys = PublicKeys::default();
        keys.add(&key.public()).context("a key that was just made")?;
        let equipment = equip(Arc::clone(&runtime));
        let engine = Engine::new(EngineParts {
            store: Arc::new(store),
            runtime,
            equipment,
            tenant: Tenant::local(),
            redactor: Redactor::new([]),
            // Of whatever name: a script has a track for each.
            law: Law { agents: None, ..Law::default() },
            telemetry: Arc::new(Silent),
            machine: Machine {
                host: "bench".to_owned(),
                boot_id: "bench".to_owned(),
                pid: std::process::id(),
                locks: Some(OwnerLocks::new(folder, "bench".to_owned(), "bench".to_owned())),
            },
            data_dir: folder.to_owned(),
            keyring: Some(Arc::new(OneKey(keys))),
            heads: None,
            tripwire: None,
        });
        Ok(Self { engine, key })
    }
}

/// Something to do in `workspace`, for whoever plays `script`.
pub fn submission(workspace: &Path, script: &str) -> Submission {
    Submission {
        goal: "Do as the script says.".to_owned(),
        constraints: Vec::new(),
        attachments: Vec::new(),
        config: ExecutionConfig { model: "rehearsal".to_owned(), ..ExecutionConfig::default() },
        agent_id: "executor".to_owned(),
        model: SubmittedModel::Rehearsal(script.to_owned()),
        workspace: workspace.to_owned(),
        base_case: BaseCase(Vec::new()),
        budget: Budget { max_attempts: 1, ..Budget::default() },
        sandbox: "bubblewrap".to_owned(),
        planning: Planning::None,
    }
}

pub fn yes() -> Answer {
    Answer {
        verdict: Verdict::Approved,
        by: "bench".to_owned(),
        approval_strength: Strength::Confirmed,
        conditions: Vec::new(),
        note: String::new(),
        taint: Taint::Auth,
    }
}

struct OneKey(PublicKeys);

impl Keyring for OneKey {
    fn public_keys(&self) -> Result<PublicKeys, String> {
        Ok(self.0.clone())
    }
}

struct Rehearsed {
    runtime: Arc<dyn Runtime>,
    /// By their text: each is read once.
    scripts: Mutex<BTreeMap<String, Arc<Script>>>,
    data: PathBuf,
}

impl Rehearsed {
    fn script(&self, text: String) -> Result<Arc<Script>, ErrorDetails> {
        let mut scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = scripts.get(&text) {
            return Ok(Arc::clone(known));
        }
        let script = Arc::new(Script::parse(&text).map_err(internal)?);
        scripts.insert(text, Arc::clone(&script));
        Ok(script)
    }
}

impl Equipment for Rehearsed {
    fn sandboxes(&self, _: &str) -> Result<Arc<dyn Provider>, ErrorDetails> {
        Ok(Arc::new(NeverOpened))
    }

    fn policy(&self, folder: &Path) -> Policy {
        Policy::new(folder)
    }

    fn workspace(&self, folder: &Path) -> Result<Arc<dyn Workspace>, ErrorDetails> {
        let setup = SnapshotSetup::new(folder, self.data.join("objects"), Vec::new());
        Ok(Arc::new(Snapshots::open(setup).map_err(internal)?))
    }

    fn runner(&self, order: Order<'_>) -> Result<Arc<dyn Runner>, ErrorDetails> {
        let script = self.script(order.script.unwrap_or_default())?;
        let limits = Limits { output_tokens: 8_000 };
        let context = Context::new(order.folder, order.sandbox, Arc::clone(&self.runtime), limits).map_err(internal)?;
        let kit = match order.role {
            Role::Planner => Kit::planner(),
            Role::Researcher => Kit::research(RESEARCH_TOOL_ALLOWLIST),
            _ => Kit::executor(Confinement::Sealed),
        };
        Ok(Arc::new(NativeRunner {
            provider: Arc::new(Rehearsal::new(script, Setup::new(Arc::clone(&self.runtime)))),
            tools: Arc::new(Toolset::new(context, kit)),
            runtime: Arc::clone(&self.runtime),
            settings: Settings::default(),
            models: Arc::new(windlass_llm::Models::built_in()),
        }))
    }
}
