//! A small house to run tasks in: agents are functions on a folder, commands are functions on a command line, and
//! whatever touches the workspace can be watched.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use windlass_domain::execution::{Launch, Outcome};
use windlass_domain::task::ExecutionConfig;
use windlass_domain::{
    Applied, BoxFuture, Budget, Candidate, Drawing, Drawn, ErrorDetails, Host, Merge, Runner, Runtime, TaskId, Tenant,
    TreeId, Wall, Workspace, WorkspaceError,
};
use windlass_engine::{
    Dispatch, Driven, Engine, EngineParts, Equipment, Law, Machine, NobodyWatches, Order, Submission, SubmittedModel,
};
use windlass_plan::parse_base_case;
use windlass_policy::Redactor;
use windlass_runtime::{Threads, TokioRuntime, executor};
use windlass_sandbox::{Cancel, Command, Error, Exit, Output, Policy, Provider, Running, Sandbox, Status};
use windlass_store::Store;
use windlass_store::queue::Silent;
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_workspace::{SnapshotSetup, Snapshots};

use crate::clock::{Clock, Time};

/// What an agent does in its folder, told what earlier attempts ran into.
type Agent = Arc<dyn Fn(&Path, &[String]) + Send + Sync>;

/// What a command prints, and what else happens meanwhile.
type Shell = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// What work on the workspace is about to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Capture,
    Materialise,
    Restore,
}

/// Does something before the work, with the question whether to stop at hand; its error is the work's.
pub type Meddler = Arc<dyn Fn(Work, &dyn Fn() -> bool) -> Result<(), WorkspaceError> + Send + Sync>;

pub struct House {
    folder: TempDir,
    executor: tokio::runtime::Runtime,
    pub engine: Engine,
    pub store: Arc<SqliteStore>,
    pub equipment: Arc<Furniture>,
    time: Arc<Time>,
}

pub struct Furniture {
    objects: PathBuf,
    agent: Agent,
    shell: Mutex<Shell>,
    meddler: Arc<Mutex<Option<Meddler>>>,
}

impl House {
    pub fn new(agent: impl Fn(&Path, &[String]) + Send + Sync + 'static) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("workspace")).unwrap();
        let executor = executor(Threads::PerCore).unwrap();
        let time = Time::flowing(TokioRuntime::new(executor.handle().clone()));
        let runtime: Arc<dyn Runtime> = Clock::new(&time);
        let store = Arc::new(SqliteStore::open(Options::new(folder.path()), Arc::clone(&runtime)).unwrap());
        let equipment = Arc::new(Furniture {
            objects: folder.path().join("objects"),
            agent: Arc::new(agent),
            shell: Mutex::new(Arc::new(|_: &str| String::new())),
            meddler: Arc::default(),
        });
        let engine = Engine::new(EngineParts {
            store: Arc::<SqliteStore>::clone(&store),
            runtime,
            equipment: Arc::<Furniture>::clone(&equipment),
            tenant: Tenant::local(),
            redactor: Redactor::new([]),
            law: Law::default(),
            telemetry: Arc::new(Silent),
            machine: Machine { host: "house".to_owned(), boot_id: "once".to_owned(), pid: 1, locks: None },
            data_dir: folder.path().to_owned(),
            keyring: None,
            heads: None,
            tripwire: None,
        });
        Self { folder, executor, engine, store, equipment, time }
    }

    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        put(&self.workspace().join(path), bytes);
    }

    pub fn submit(&self, checks: &str, max_attempts: u32) -> TaskId {
        let submission = Submission {
            goal: "do it".to_owned(),
            constraints: Vec::new(),
            attachments: Vec::new(),
            config: ExecutionConfig::default(),
            agent_id: "executor".to_owned(),
            model: SubmittedModel::Rehearsal("nobody plays it".to_owned()),
            workspace: self.workspace(),
            base_case: parse_base_case(checks).unwrap(),
            budget: Budget { max_attempts, ..Budget::default() },
            sandbox: "scripted".to_owned(),
            planning: windlass_engine::Planning::None,
        };
        self.wait(self.engine.submit(submission, Dispatch::Here, None)).unwrap()
    }

    pub fn drive(&self, task: TaskId) -> Driven {
        self.wait(self.engine.drive(task, Arc::new(NobodyWatches))).unwrap()
    }

    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.executor.block_on(work)
    }

    pub fn meddle(
        &self,
        meddler: impl Fn(Work, &dyn Fn() -> bool) -> Result<(), WorkspaceError> + Send + Sync + 'static,
    ) {
        *self.equipment.meddler.lock().unwrap() = Some(Arc::new(meddler));
    }

    pub fn leave_alone(&self) {
        *self.equipment.meddler.lock().unwrap() = None;
    }

    pub fn shell(&self, shell: impl Fn(&str) -> String + Send + Sync + 'static) {
        *self.equipment.shell.lock().unwrap() = Arc::new(shell);
    }

    /// Lets the clock jump when it is called.
    pub fn time_machine(&self) -> impl Fn(Duration) + Send + Sync + use<> {
        let time = Arc::clone(&self.time);
        move |length| time.jump(length)
    }

    pub fn has_blob(&self, digest: windlass_domain::Digest) -> bool {
        self.wait(self.store.blob(&Tenant::local(), digest)).unwrap().is_some()
    }
}

pub fn put(path: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

impl Equipment for Furniture {
    fn sandboxes(&self, _: &str) -> Result<Arc<dyn Provider>, ErrorDetails> {
        Ok(Arc::new(ScriptedSandbox(Arc::clone(&self.shell.lock().unwrap()))))
    }

    fn policy(&self, folder: &Path) -> Policy {
        Policy::new(folder)
    }

    fn workspace(&self, folder: &Path) -> Result<Arc<dyn Workspace>, ErrorDetails> {
        let inner = Snapshots::open(SnapshotSetup::new(folder, &self.objects, Vec::new())).unwrap();
        Ok(Arc::new(Watched { inner, meddler: Arc::clone(&self.meddler) }))
    }

    fn runner(&self, order: Order<'_>) -> Result<Arc<dyn Runner>, ErrorDetails> {
        Ok(Arc::new(ScriptedRunner { agent: Arc::clone(&self.agent), folder: order.folder.to_owned() }))
    }
}

struct ScriptedRunner {
    agent: Agent,
    folder: PathBuf,
}

impl Runner for ScriptedRunner {
    fn run(&self, launch: Launch, _: Arc<dyn Host>) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            (self.agent)(&self.folder, &launch.task.previous_failures);
            Outcome::Completed { message: "done".to_owned() }
        })
    }
}

#[derive(Clone)]
struct ScriptedSandbox(Shell);

impl Provider for ScriptedSandbox {
    fn open(&self, _: Policy) -> BoxFuture<'_, Result<Box<dyn Sandbox>, Error>> {
        Box::pin(async { Ok(Box::new(self.clone()) as Box<dyn Sandbox>) })
    }
}

impl Sandbox for ScriptedSandbox {
    fn run<'a>(&'a self, command: Command, _: Output<'a>, _: Cancel) -> BoxFuture<'a, Result<Exit, Error>> {
        Box::pin(async move {
            let said = (self.0)(&command.argv.last().unwrap().to_string_lossy()).into_bytes();
            Ok(Exit {
                status: Status::Code(0),
                combined: said.clone(),
                stdout: said,
                stderr: Vec::new(),
                dropped: 0,
                duration: Duration::ZERO,
            })
        })
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

/// Real snapshots, and somebody who meddles.
pub struct Watched {
    pub inner: Snapshots,
    pub meddler: Arc<Mutex<Option<Meddler>>>,
}

impl Watched {
    fn meddle(&self, work: Work, should_stop: &dyn Fn() -> bool) -> Result<(), WorkspaceError> {
        let meddler = self.meddler.lock().unwrap().clone();
        meddler.map_or(Ok(()), |meddler| meddler(work, should_stop))
    }
}

impl Workspace for Watched {
    fn capture(&self) -> Result<TreeId, WorkspaceError> {
        Workspace::capture(&self.inner)
    }

    fn capture_under(&self, baseline: TreeId, should_stop: &dyn Fn() -> bool) -> Result<Candidate, WorkspaceError> {
        self.meddle(Work::Capture, should_stop)?;
        Workspace::capture_under(&self.inner, baseline, should_stop)
    }

    fn materialise(
        &self,
        tree: TreeId,
        baseline: TreeId,
        folder: &Path,
        made: Wall,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<(), WorkspaceError> {
        self.meddle(Work::Materialise, should_stop)?;
        Workspace::materialise(&self.inner, tree, baseline, folder, made, should_stop)
    }

    fn restore(
        &self,
        tree: TreeId,
        paths: &[String],
        folder: &Path,
        made: Wall,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, WorkspaceError> {
        self.meddle(Work::Restore, should_stop)?;
        Workspace::restore(&self.inner, tree, paths, folder, made, should_stop)
    }

    fn merge(
        &self,
        base: TreeId,
        ours: TreeId,
        theirs: TreeId,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Merge, WorkspaceError> {
        Workspace::merge(&self.inner, base, ours, theirs, should_stop)
    }

    fn apply(
        &self,
        from: TreeId,
        to: TreeId,
        made: Wall,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Applied, WorkspaceError> {
        Workspace::apply(&self.inner, from, to, made, should_stop)
    }

    fn changes(&self, before: TreeId, after: TreeId) -> Result<Vec<String>, WorkspaceError> {
        Workspace::changes(&self.inner, before, after)
    }

    fn draw(&self, drawing: Drawing<'_>, should_stop: &dyn Fn() -> bool) -> Result<Drawn, WorkspaceError> {
        Workspace::draw(&self.inner, drawing, should_stop)
    }
}
