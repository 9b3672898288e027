//! Many runs at once in one process: the engine as a library on a real store, a real HTTP client each, and the tool `read`.
//! What a run needs besides is what the binary gives it. No sandbox is opened unless one is asked for: nothing in these
//! runs uses it, and a thousand would measure the kernel.

#![expect(clippy::disallowed_methods, reason = "a benchmark builds its executor and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use windlass_agent::{NativeRunner, Settings};
use windlass_domain::task::ExecutionConfig;
use windlass_domain::{
    BaseCase, Budget, ErrorCode, ErrorDetails, Runner, Runtime, TaskResultStatus, Tenant, Workspace,
};
use windlass_engine::{
    Dispatch, Driven, Engine, EngineParts, Equipment, Law, Machine, NobodyWatches, Order, Submission, SubmittedModel,
};
use windlass_llm::{Endpoint, Models, OpenAi, Setup};
use windlass_policy::Redactor;
use windlass_runtime::TokioRuntime;
use windlass_sandbox::{
    BoxFuture, Bubblewrap, Cancel, Command, Error, Exit, Output, Policy, Provider, Running, Sandbox, Supervisor,
};
use windlass_store::OwnerLocks;
use windlass_store::queue::Silent;
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_tools::{Confinement, Context, Kit, Limits, Toolset};
use windlass_workspace::{SnapshotSetup, Snapshots};

use crate::arguments::Agents;
use crate::process::{own_cpu, status_kb};

/// What it prints when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub wall_s: f64,
    pub cpu_s: f64,
    pub base_kb: u64,
    pub peak_kb: u64,
}

impl Figures {
    pub fn kb_per_agent(&self, agents: usize) -> f64 {
        self.peak_kb.saturating_sub(self.base_kb) as f64 / agents as f64
    }
}

pub fn run(agents: &Agents) -> anyhow::Result<()> {
    let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore)?;
    let figures = executor.block_on(measure(agents, executor.handle().clone()))?;
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

async fn measure(agents: &Agents, handle: tokio::runtime::Handle) -> anyhow::Result<Figures> {
    let engine = engine(agents, handle.clone())?;
    // One run first, as with the peers: what is built once for a process is not a run's share.
    one(engine.clone(), submission(agents)).await?;
    let base_kb = status_kb(std::process::id(), "VmRSS:").unwrap_or_default();
    let (begun, cpu) = (Instant::now(), own_cpu());
    let runs: Vec<_> = (0..agents.agents).map(|_| handle.spawn(one(engine.clone(), submission(agents)))).collect();
    for run in runs {
        run.await??;
    }
    let (wall, cpu) = (begun.elapsed(), own_cpu() - cpu);
    let peak_kb = status_kb(std::process::id(), "VmHWM:").unwrap_or_default();
    engine.close().await?;
    Ok(Figures { wall_s: wall.as_secs_f64(), cpu_s: cpu.as_secs_f64(), base_kb, peak_kb })
}

async fn one(engine: Engine, submission: Submission) -> anyhow::Result<()> {
    let task = engine.submit(submission, Dispatch::Here, None).await?;
    match engine.drive(task, Arc::new(NobodyWatches)).await? {
        Driven::Finished(result) if result.status == TaskResultStatus::Completed => Ok(()),
        other => anyhow::bail!("a run ended as {other:?}"),
    }
}

fn submission(agents: &Agents) -> Submission {
    Submission {
        goal: "Do as the script says.".to_owned(),
        constraints: Vec::new(),
        attachments: Vec::new(),
        config: ExecutionConfig { model: agents.model.clone(), ..ExecutionConfig::default() },
        agent_id: "executor".to_owned(),
        model: SubmittedModel::OpenAi { base_url: agents.server.clone() },
        workspace: agents.workspace.clone(),
        base_case: BaseCase(Vec::new()),
        budget: Budget { max_tokens: u64::MAX, max_attempts: 1, ..Budget::default() },
        sandbox: "bubblewrap".to_owned(),
        planning: windlass_engine::Planning::None,
    }
}

fn engine(agents: &Agents, handle: tokio::runtime::Handle) -> anyhow::Result<Engine> {
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::new(handle));
    let store = SqliteStore::open(Options::new(&agents.data_dir), Arc::clone(&runtime))?;
    let sandboxes: Arc<dyn Provider> = match &agents.supervisor {
        Some(program) => {
            Arc::new(Bubblewrap::new(Supervisor { program: program.clone(), args: vec!["__supervise".into()] }))
        }
        None => Arc::new(NeverOpened),
    };
    let locks = OwnerLocks::new(&agents.data_dir, "bench".to_owned(), "bench".to_owned());
    Ok(Engine::new(EngineParts {
        store: Arc::new(store),
        runtime: Arc::clone(&runtime),
        equipment: Arc::new(Bench {
            runtime,
            models: Arc::new(Models::built_in()),
            server: agents.server.clone(),
            objects: agents.data_dir.join("objects"),
            sandboxes,
        }),
        tenant: Tenant::local(),
        redactor: Redactor::new([]),
        law: Law::default(),
        telemetry: Arc::new(Silent),
        machine: Machine {
            host: "bench".to_owned(),
            boot_id: "bench".to_owned(),
            pid: std::process::id(),
            locks: Some(locks),
        },
        data_dir: agents.data_dir.clone(),
        keyring: None,
        heads: None,
        tripwire: None,
    }))
}

/// The binary's own equipment, but for the sandbox.
struct Bench {
    runtime: Arc<dyn Runtime>,
    models: Arc<Models>,
    server: String,
    objects: PathBuf,
    sandboxes: Arc<dyn Provider>,
}

impl Equipment for Bench {
    fn sandboxes(&self, _: &str) -> Result<Arc<dyn Provider>, ErrorDetails> {
        Ok(Arc::clone(&self.sandboxes))
    }

    fn policy(&self, folder: &Path) -> Policy {
        Policy::new(folder)
    }

    fn workspace(&self, folder: &Path) -> Result<Arc<dyn Workspace>, ErrorDetails> {
        let snapshots = Snapshots::open(SnapshotSetup::new(folder, &self.objects, Vec::new())).map_err(internal)?;
        Ok(Arc::new(snapshots))
    }

    fn runner(&self, order: Order<'_>) -> Result<Arc<dyn Runner>, ErrorDetails> {
        let mut setup = Setup::new(Arc::clone(&self.runtime));
        setup.models = Arc::clone(&self.models);
        let endpoint = Endpoint { base_url: format!("http://{}", self.server), key: None };
        let limits = Limits { output_tokens: 8_000 };
        let context = Context::new(order.folder, order.sandbox, Arc::clone(&self.runtime), limits).map_err(internal)?;
        let tools = Toolset::new(context, Kit::executor(Confinement::Sealed));
        Ok(Arc::new(NativeRunner {
            provider: Arc::new(OpenAi::new(endpoint, setup).map_err(internal)?),
            tools: Arc::new(tools),
            runtime: Arc::clone(&self.runtime),
            settings: Settings::default(),
            models: Arc::clone(&self.models),
        }))
    }
}

pub fn internal(error: impl std::fmt::Display) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::Internal, error.to_string())
}

/// Stands where a sandbox would; a command that reaches it is a mistake of the benchmark.
pub struct NeverOpened;

impl Provider for NeverOpened {
    fn open(&self, _: Policy) -> BoxFuture<'_, Result<Box<dyn Sandbox>, Error>> {
        Box::pin(async { Ok(Box::new(NeverOpened) as Box<dyn Sandbox>) })
    }
}

impl Sandbox for NeverOpened {
    fn run<'a>(&'a self, _: Command, _: Output<'a>, _: Cancel) -> BoxFuture<'a, Result<Exit, Error>> {
        Box::pin(async { Err(Error::Closed) })
    }

    fn start(&self, _: Command) -> BoxFuture<'_, Result<Box<dyn Running>, Error>> {
        Box::pin(async { Err(Error::Closed) })
    }

    fn listen(&self) -> BoxFuture<'_, Result<std::net::TcpListener, Error>> {
        Box::pin(async { Err(Error::Closed) })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}
