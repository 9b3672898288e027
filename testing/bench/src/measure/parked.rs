//! Tasks that wait for a person: what ten thousand of them hold in memory and on disk, and how long one takes to go on once
//! its card is answered. Each is a whole run of the native loop over a rehearsed model that asks for something risky; no
//! sandbox is opened, since nothing here is about one.

#![expect(clippy::disallowed_methods, reason = "a measured part builds its executor and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use windlass_agent::{NativeRunner, Settings};
use windlass_domain::approval::{Answer, Strength, Verdict};
use windlass_domain::task::ExecutionConfig;
use windlass_domain::{BaseCase, Budget, ErrorDetails, Runner, Runtime, Taint, TaskId, Tenant, Workspace};
use windlass_engine::{
    Dispatch, Driven, Engine, EngineParts, Equipment, Keyring, Law, Machine, NobodyWatches, Order, Submission,
    SubmittedModel,
};
use windlass_llm::{Rehearsal, Script, Setup};
use windlass_policy::Redactor;
use windlass_policy::approve::{OwnerKey, PublicKeys};
use windlass_runtime::TokioRuntime;
use windlass_sandbox::{Policy, Provider};
use windlass_store::OwnerLocks;
use windlass_store::queue::Silent;
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_tools::{Confinement, Context, Kit, Limits, Toolset};
use windlass_workspace::{SnapshotSetup, Snapshots};

use super::agents::{NeverOpened, internal};
use crate::arguments::Parked;
use crate::process::status_kb;

const SCRIPT: &str = "
version: 1
tracks:
  default:
    - { reply: This is in the way., calls: [{ tool: bash, args: { command: rm old.txt } }] }
    - { reply: Done. }
";
/// Parked before anything is counted: what a process builds once is not a task's share.
const FIRST: usize = 200;
/// Woken, one after the other.
const WOKEN: usize = 100;
/// At a time, while they are parked.
const TOGETHER: usize = 64;

/// What it prints when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub parked: usize,
    pub parked_per_s: f64,
    /// Of the process, for each task that waits.
    pub memory_bytes: f64,
    /// Of the database, for each task that waits.
    pub disk_bytes: f64,
    pub wake_ms_p50: f64,
    pub wake_ms_p99: f64,
}

pub fn run(parked: &Parked) -> anyhow::Result<()> {
    let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore)?;
    let figures = executor.block_on(measure(parked, executor.handle().clone()))?;
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

async fn measure(options: &Parked, handle: tokio::runtime::Handle) -> anyhow::Result<Figures> {
    let scratch = tempfile::tempdir_in(&options.scratch)?;
    let key = OwnerKey::new(&[7; 32]);
    let engine = engine(scratch.path(), handle.clone(), &key)?;
    let workspace = scratch.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    park(&engine, &workspace, FIRST, &handle).await?;
    let (memory, disk) = (resident(), database(scratch.path()));
    let begun = Instant::now();
    park(&engine, &workspace, options.tasks, &handle).await?;
    let elapsed = begun.elapsed();
    let each = |before: u64, after: u64| after.saturating_sub(before) as f64 / options.tasks as f64;
    let (memory_bytes, disk_bytes) = (each(memory, resident()), each(disk, database(scratch.path())));
    let mut woken = wake(&engine, &key).await?;
    woken.sort_by(f64::total_cmp);
    engine.close().await?;
    Ok(Figures {
        parked: options.tasks,
        parked_per_s: options.tasks as f64 / elapsed.as_secs_f64(),
        memory_bytes,
        disk_bytes,
        wake_ms_p50: woken[woken.len() / 2],
        wake_ms_p99: woken[woken.len() * 99 / 100],
    })
}

async fn park(engine: &Engine, workspace: &Path, tasks: usize, handle: &tokio::runtime::Handle) -> anyhow::Result<()> {
    let mut left = tasks;
    while left > 0 {
        let now = left.min(TOGETHER);
        let parking: Vec<_> = (0..now).map(|_| handle.spawn(park_one(engine.clone(), workspace.to_owned()))).collect();
        for one in parking {
            one.await??;
        }
        left -= now;
    }
    Ok(())
}

async fn park_one(engine: Engine, workspace: PathBuf) -> anyhow::Result<TaskId> {
    let task = engine.submit(submission(workspace), Dispatch::Here, None).await?;
    match engine.drive(task, Arc::new(NobodyWatches)).await? {
        Driven::Waiting(_) => Ok(task),
        other => anyhow::bail!("a task should wait, and is {other:?}"),
    }
}

/// From the answer to the end of the run that waited for it, in milliseconds.
async fn wake(engine: &Engine, key: &OwnerKey) -> anyhow::Result<Vec<f64>> {
    let mut took = Vec::with_capacity(WOKEN);
    for asked in engine.cards().await?.into_iter().take(WOKEN) {
        let begun = Instant::now();
        let answered = engine.answer(asked.card.card_id, yes(), key).await?;
        match engine.drive(answered.task, Arc::new(NobodyWatches)).await? {
            Driven::Finished(_) => took.push(begun.elapsed().as_secs_f64() * 1e3),
            other => anyhow::bail!("a task should go on, and is {other:?}"),
        }
    }
    anyhow::ensure!(took.len() == WOKEN, "there are fewer cards than tasks");
    Ok(took)
}

fn yes() -> Answer {
    Answer {
        verdict: Verdict::Approved,
        by: "bench".to_owned(),
        approval_strength: Strength::Confirmed,
        conditions: Vec::new(),
        note: String::new(),
        taint: Taint::Auth,
    }
}

fn resident() -> u64 {
    status_kb(std::process::id(), "VmRSS:").unwrap_or_default() * 1024
}

fn database(folder: &Path) -> u64 {
    ["windlass.db", "windlass.db-wal"]
        .iter()
        .filter_map(|file| folder.join(file).metadata().ok())
        .map(|file| file.len())
        .sum()
}

fn submission(workspace: PathBuf) -> Submission {
    Submission {
        goal: "Do as the script says.".to_owned(),
        constraints: Vec::new(),
        attachments: Vec::new(),
        config: ExecutionConfig { model: "rehearsal".to_owned(), ..ExecutionConfig::default() },
        agent_id: "executor".to_owned(),
        model: SubmittedModel::Rehearsal(SCRIPT.to_owned()),
        workspace,
        base_case: BaseCase(Vec::new()),
        budget: Budget { max_attempts: 1, ..Budget::default() },
        sandbox: "bubblewrap".to_owned(),
        planning: windlass_engine::Planning::None,
    }
}

fn engine(folder: &Path, handle: tokio::runtime::Handle, key: &OwnerKey) -> anyhow::Result<Engine> {
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::new(handle));
    let store = SqliteStore::open(Options::new(folder), Arc::clone(&runtime))?;
    let mut keys = PublicKeys::default();
    keys.add(&key.public()).context("a key that was just made")?;
    let script = Script::parse(SCRIPT).map_err(|problems| anyhow::anyhow!("{problems}"))?;
    Ok(Engine::new(EngineParts {
        store: Arc::new(store),
        runtime: Arc::clone(&runtime),
        equipment: Arc::new(Waiting { runtime, script: Arc::new(script), objects: folder.join("objects") }),
        tenant: Tenant::local(),
        redactor: Redactor::new([]),
        law: Law::default(),
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
    }))
}

struct OneKey(PublicKeys);

impl Keyring for OneKey {
    fn public_keys(&self) -> Result<PublicKeys, String> {
        Ok(self.0.clone())
    }
}

struct Waiting {
    runtime: Arc<dyn Runtime>,
    script: Arc<Script>,
    objects: PathBuf,
}

impl Equipment for Waiting {
    fn sandboxes(&self, _: &str) -> Result<Arc<dyn Provider>, ErrorDetails> {
        Ok(Arc::new(NeverOpened))
    }

    fn policy(&self, folder: &Path) -> Policy {
        Policy::new(folder)
    }

    fn workspace(&self, folder: &Path) -> Result<Arc<dyn Workspace>, ErrorDetails> {
        let snapshots = Snapshots::open(SnapshotSetup::new(folder, &self.objects, Vec::new())).map_err(internal)?;
        Ok(Arc::new(snapshots))
    }

    fn runner(&self, order: Order<'_>) -> Result<Arc<dyn Runner>, ErrorDetails> {
        let limits = Limits { output_tokens: 8_000 };
        let context = Context::new(order.folder, order.sandbox, Arc::clone(&self.runtime), limits).map_err(internal)?;
        let tools = Toolset::new(context, Kit::executor(Confinement::Sealed));
        Ok(Arc::new(NativeRunner {
            provider: Arc::new(Rehearsal::new(Arc::clone(&self.script), Setup::new(Arc::clone(&self.runtime)))),
            tools: Arc::new(tools),
            runtime: Arc::clone(&self.runtime),
            settings: Settings::default(),
        }))
    }
}
