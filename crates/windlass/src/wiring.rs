//! Puts an engine together from the configuration.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use windlass_adapters::Screens;
use windlass_domain::{Runtime, Tenant};
use windlass_engine::{Engine, EngineParts, Machine, Newcomers};
use windlass_policy::Redactor;
use windlass_runtime::TokioRuntime;
use windlass_sandbox::Supervisor;
use windlass_store::queue::{Silent, Telemetry};
use windlass_store::{OwnerLocks, Store};
use windlass_telemetry::Level;
use windlass_tools::skills::Shelf;

use crate::agents::{Catalogue, Homes, versions};
use crate::config::{Config, crash_at};
use crate::disk::{DataDisk, RoomConfig};
use crate::equipment::Workbench;
use crate::exit::WrongUse;
use crate::heads::FileHeads;
use crate::keys::FileKeyring;
use crate::mcp::McpServers;
use crate::observing::{LogChoice, Observing};
use crate::screens::screens;
use crate::services::{context_service, embedder, web};
use crate::serving::Cap;
use crate::show::mention;
use crate::skills::SkillSources;
use crate::stores;
use crate::tripwire::tripwire;

#[derive(Clone)]
pub struct Windlass {
    pub engine: Engine,
    pub store: Arc<dyn Store>,
    pub keys: FileKeyring,
    pub heads: FileHeads,
    pub runtime: Arc<dyn Runtime>,
    /// Whose things are looked at and changed.
    pub tenant: Tenant,
    /// Who answers.
    pub user: String,
    pub observing: Observing,
    pub catalogue: Catalogue,
    pub screens: Screens,
    /// The most that may be asked for, where whoever asks is not the operator.
    pub cap: Option<Cap>,
}

/// How much a process does at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    OneTask,
    ManyTasks,
}

impl Windlass {
    /// For commands that let agents work: what they do is signed, so that a key which is not in order stops them first, and
    /// so does a database that is not the one that was signed.
    pub async fn open_to_work(config: Config) -> anyhow::Result<Self> {
        let (data_dir, room) = (config.data_dir.clone(), config.file.limits);
        let opened = Box::pin(Self::open_for(config, Load::OneTask, Arc::new(Silent))).await?;
        Ok(opened.in_order().await?.with_duties(&data_dir, room, Newcomers::Rest))
    }

    /// The same for a worker, whose tasks must not wait for each other.
    pub async fn open_to_work_on_many(config: Config, telemetry: Arc<dyn Telemetry>) -> anyhow::Result<Self> {
        let (data_dir, room) = (config.data_dir.clone(), config.file.limits);
        let retention = config.file.retention.older_than();
        let windlass = Box::pin(Self::open_for(config, Load::ManyTasks, telemetry)).await?.in_order().await?;
        windlass.engine.keep_pruning(retention, Arc::new(|what: &str| mention(what)));
        Ok(windlass.with_duties(&data_dir, room, Newcomers::Refused))
    }

    /// The same for somebody who asks from elsewhere, with the engine as their tenant has it.
    pub fn as_seen_by(&self, engine: Engine, tenant: Tenant, user: String, cap: Cap) -> Self {
        Self { engine, tenant, user, cap: Some(cap), ..self.clone() }
    }

    pub async fn open(config: Config) -> anyhow::Result<Self> {
        Box::pin(Self::open_for(config, Load::OneTask, Arc::new(Silent))).await
    }

    /// For as long as this process works.
    fn with_duties(self, data_dir: &Path, room: RoomConfig, newcomers: Newcomers) -> Self {
        let disk = Arc::new(DataDisk::new(data_dir));
        self.engine.guard_disk(disk, room.least(), newcomers, Arc::new(|what: &str| mention(what)));
        self
    }

    /// An older copy of the database has forgotten which approvals were used: nothing is done with it unasked.
    async fn in_order(self) -> anyhow::Result<Self> {
        self.keys.owner().map_err(WrongUse::from)?;
        let tenant = self.tenant.clone();
        match self.heads.newest(&tenant).map_err(|bad| WrongUse::new(bad.to_string()))? {
            Some(head) if !self.engine.has_head(&head).await? => {
                let path = self.heads.path(&tenant);
                let what = "the database is not the one that was signed last: it is an older copy, or was changed";
                Err(WrongUse::new(what).hint(restored(&path)).into())
            }
            _ => Ok(self),
        }
    }

    async fn open_for(config: Config, load: Load, telemetry: Arc<dyn Telemetry>) -> anyhow::Result<Self> {
        create_private(&config.data_dir)?;
        let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
        // Whoever works on one task narrates it.
        let log = match load {
            Load::OneTask => LogChoice::Off,
            Load::ManyTasks => LogChoice::UpTo(Level::Info),
        };
        let observing = Observing::new(&config, log, &runtime);
        let machine = machine(&config.data_dir, runtime.random())?;
        let store = stores::open(&config, load, &runtime).await?;
        let redactor = Redactor::new(config.secrets.iter());
        let skills = SkillSources::new(&config);
        let mcp = McpServers::new(&config, &runtime);
        let law = config.law.for_engine(&config.data_dir)?;
        let law = config.file.sandbox.allowed_hosts.applied_to(config.file.approvals.applied_to(law));
        let law = windlass_engine::Law {
            delegation: config.delegation,
            concurrency: config.concurrency,
            agents: Some(config.catalogue.names()),
            ..law
        };
        let embedder = embedder(config.file.embeddings.as_ref(), &config.keys, &runtime)?;
        let url = config.context_service_url.as_ref();
        let context_service = context_service(url, &config.file.context_service, &config.keys, &runtime)?;
        let web = web(&config.file, &config.keys, &runtime)?;
        let screens = screens(&config.data_dir, &redactor);
        let workbench = Workbench {
            screens: screens.clone(),
            web,
            embedder,
            context_service,
            mcp,
            skills,
            shelf: Shelf::new(config.data_dir.join("skill-sets")),
            runtime: Arc::clone(&runtime),
            models: Arc::new(config.models),
            file: config.file,
            openai: config.openai,
            anthropic: config.anthropic,
            supervisor: supervisor(),
            objects: config.data_dir.join("objects"),
            data_dir: config.data_dir.clone(),
            tool_output_max_tokens: config.tool_output_max_tokens,
            delegation: config.delegation,
            catalogue: config.catalogue.clone(),
            agents: config.agents,
            homes: Homes::new(&config.data_dir),
            versions: versions(&config.data_dir),
        };
        let keys = FileKeyring::new(&config.data_dir, Arc::clone(&runtime));
        let heads = FileHeads::new(&config.data_dir, keys.clone());
        let engine = Engine::new(EngineParts {
            store: Arc::clone(&store),
            runtime: Arc::clone(&runtime),
            equipment: Arc::new(workbench),
            tenant: Tenant::local(),
            redactor,
            law,
            telemetry: observing.queues(telemetry),
            machine,
            data_dir: config.data_dir,
            keyring: Some(Arc::new(keys.clone())),
            heads: Some(Arc::new(heads.clone())),
            tripwire: tripwire(crash_at().as_deref())?,
        });
        let engine = engine.in_the_name_of(&config.user);
        let catalogue = config.catalogue;
        let (tenant, user) = (Tenant::local(), config.user);
        Ok(Self { engine, store, keys, heads, runtime, tenant, user, observing, catalogue, screens, cap: None })
    }
}

/// This very program, which is its own supervisor inside a sandbox.
pub fn supervisor() -> Supervisor {
    Supervisor::myself(["__supervise"])
}

fn restored(heads: &Path) -> String {
    format!(
        "`windlass audit verify` says more; approvals that were used after the copy was made could be used again. If you \
         put it back yourself and accept that, move {} away",
        heads.display()
    )
}

pub fn machine(data_dir: &Path, random: u128) -> anyhow::Result<Machine> {
    let host = kernel_says("/proc/sys/kernel/hostname")?;
    let named = crate::machine::name(data_dir, &host, random);
    let host = named.with_context(|| format!("this machine cannot be named in {}", data_dir.display()))?;
    let boot_id = kernel_says("/proc/sys/kernel/random/boot_id")?;
    let locks = OwnerLocks::new(data_dir, host.clone(), boot_id.clone());
    Ok(Machine { host, boot_id, pid: std::process::id(), locks: Some(locks) })
}

fn kernel_says(path: &str) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path).with_context(|| path.to_owned())?;
    Ok(text.trim().to_owned())
}

pub fn create_private(folder: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| {
        WrongUse::new(format!("the data directory {} cannot be made: {error}", folder.display()))
            .hint("set WINDLASS_DATA_DIR to a folder that you may write")
            .into()
    })
}
