//! How fast what a program of others tells is taken in: observations through the engine's own host into the store, each decided on and
//! committed before the next is told, for one execution and for sixteen at once, beside bare commits to a store in the same run. Who
//! tells is a runner of the benchmark's: no program and no adapter takes part. Last it leaves a long journal for `replay` to fold.

#![expect(clippy::disallowed_methods, reason = "a measured part builds its executor and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Barrier;
use windlass_domain::execution::{Carrier, Launch, Observation, Observed, Outcome, RunnerCommand, Source};
use windlass_domain::{BoxFuture, ErrorDetails, ExecutionId, Host, Refused, Runner, TaskResultStatus, Workspace};
use windlass_engine::{Dispatch, Driven, Engine, Equipment, NobodyWatches, Order};
use windlass_sandbox::{Policy, Provider};
use windlass_workspace::{SnapshotSetup, Snapshots};

use crate::arguments::Observations;
use crate::figures::median;
use crate::house::{House, submission};
use crate::measure::agents::{NeverOpened, internal};
use crate::measure::commits::{self, Round};
use crate::process::own_cpu;

const ROUND: Duration = Duration::from_secs(3);
const TURNS: usize = 3;
pub const EXECUTIONS: [usize; 2] = [1, 16];
/// Of the journal that is left.
const RECORDS: usize = 100_000;
/// So many in a commit, while it is written.
const TOGETHER: usize = 1_000;

/// What it prints when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    /// One for each of `EXECUTIONS`.
    pub intake: Vec<Round>,
    /// As many writers, to a store and nothing else.
    pub bare: Vec<Round>,
    /// Whose journal was left.
    pub execution: ExecutionId,
}

pub fn run(options: &Observations) -> anyhow::Result<()> {
    let folder = tempfile::tempdir_in(&options.scratch)?;
    let (mut intake, mut bare) = (Vec::new(), Vec::new());
    for executions in EXECUTIONS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        // In turn: a disk that others use is not the same disk for long.
        for turn in 0..TURNS {
            let place = |what: &str| folder.path().join(format!("{what}-{executions}-{turn}"));
            ours.push(taken_in(&place("intake"), executions)?);
            theirs.push(commits::round(&place("bare"), executions as u64)?);
        }
        intake.push(middle(&ours));
        bare.push(middle(&theirs));
    }
    let execution = leave_journal(&options.journal, RECORDS)?;
    println!("{}", serde_json::to_string(&Figures { intake, bare, execution })?);
    Ok(())
}

/// Of so many observations; whose it is.
pub fn leave_journal(data: &Path, records: usize) -> anyhow::Result<ExecutionId> {
    told(data, &Work::Alone(records), 1)
}

fn taken_in(data: &Path, executions: usize) -> anyhow::Result<Round> {
    let meeting = Arc::new(Meeting::of(executions));
    told(data, &Work::Together(Arc::clone(&meeting)), executions)?;
    meeting.round()
}

fn middle(rounds: &[Round]) -> Round {
    let of = |pick: fn(&Round) -> f64| median(rounds.iter().map(pick).collect());
    Round { per_s: of(|round| round.per_s), cpu_micros: of(|round| round.cpu_micros) }
}

/// Runs so many executions at once, each of which does this work; the newest one's name.
fn told(data: &Path, work: &Work, executions: usize) -> anyhow::Result<ExecutionId> {
    let workspace = data.join("workspace");
    std::fs::create_dir_all(&workspace)?;
    let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore)?;
    let equipment = Tellers { work: work.clone(), data: data.to_owned() };
    let House { engine, .. } = House::equipped(data, executor.handle().clone(), |_| Arc::new(equipment))?;
    let runs: Vec<_> = (0..executions).map(|_| executor.spawn(one(engine.clone(), workspace.clone()))).collect();
    for run in runs {
        executor.block_on(run)??;
    }
    let newest = executor.block_on(engine.execution_ids(1))?.pop();
    executor.block_on(engine.close())?;
    newest.context("an execution that was just run")
}

async fn one(engine: Engine, workspace: PathBuf) -> anyhow::Result<()> {
    let task = engine.submit(submission(&workspace, ""), Dispatch::Here, None).await?;
    match engine.drive(task, Arc::new(NobodyWatches)).await? {
        Driven::Finished(result) if result.status == TaskResultStatus::Completed => Ok(()),
        other => anyhow::bail!("who tells should come to an end, and is {other:?}"),
    }
}

#[derive(Clone)]
enum Work {
    /// For a while, one observation to a commit, beginning with the others.
    Together(Arc<Meeting>),
    /// So many, a thousand to a commit.
    Alone(usize),
}

/// Where executions that are measured together begin and end.
struct Meeting {
    barrier: Barrier,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    begun: Option<(Instant, Duration)>,
    told: usize,
    round: Option<Round>,
}

impl Meeting {
    fn of(executions: usize) -> Self {
        Self { barrier: Barrier::new(executions), kept: Mutex::default() }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn begin(&self) {
        if self.barrier.wait().await.is_leader() {
            self.kept().begun = Some((Instant::now(), own_cpu()));
        }
    }

    async fn end(&self, told: usize) {
        self.kept().told += told;
        if self.barrier.wait().await.is_leader() {
            let mut kept = self.kept();
            let (begun, cpu) = kept.begun.expect("who ends has begun");
            let (elapsed, cpu) = (begun.elapsed().as_secs_f64(), (own_cpu() - cpu).as_secs_f64());
            let told = kept.told as f64;
            kept.round = Some(Round { per_s: told / elapsed, cpu_micros: cpu * 1e6 / told });
        }
    }

    fn round(&self) -> anyhow::Result<Round> {
        self.kept().round.take().context("the executions never met")
    }
}

struct Tellers {
    work: Work,
    data: PathBuf,
}

impl Equipment for Tellers {
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

    fn carrier(&self, _: &str) -> Carrier {
        Carrier::Foreign
    }

    fn runner(&self, _: Order<'_>) -> Result<Arc<dyn Runner>, ErrorDetails> {
        Ok(Arc::new(Teller(self.work.clone())))
    }
}

struct Teller(Work);

impl Runner for Teller {
    fn run(&self, _: Launch, host: Arc<dyn Host>) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            let told = match &self.0 {
                Work::Together(meeting) => tell_together(&*host, meeting).await,
                Work::Alone(records) => tell_alone(&*host, *records).await,
            };
            match told {
                Ok(()) => Outcome::Completed { message: "All is told.".to_owned() },
                Err(refused) => Outcome::Failed(internal(refused)),
            }
        })
    }
}

async fn tell_together(host: &dyn Host, meeting: &Meeting) -> Result<(), Refused> {
    meeting.begin().await;
    let (begun, mut told, mut refused) = (Instant::now(), 0, None);
    while begun.elapsed() < ROUND && refused.is_none() {
        match host.record(vec![observe(told)]).await {
            Ok(_) => told += 1,
            Err(error) => refused = Some(error),
        }
    }
    // Even with nothing more to tell: the others wait for it.
    meeting.end(told).await;
    refused.map_or(Ok(()), Err)
}

async fn tell_alone(host: &dyn Host, records: usize) -> Result<(), Refused> {
    for first in (0..records).step_by(TOGETHER) {
        host.record((first..records.min(first + TOGETHER)).map(observe).collect()).await?;
    }
    Ok(())
}

/// By turns the agent speaks, runs something, and has run it: some 400 bytes each.
fn observe(number: usize) -> RunnerCommand {
    let words = "Windlass hauls a load with a drum and a pawl. ";
    let call = format!("call-{}", number / 3);
    let observation = match number % 3 {
        0 => Observation::Said { text: words.repeat(4) },
        1 => Observation::Called { call, tool: "Bash".to_owned(), input: json!({"command": words.repeat(3)}) },
        _ => Observation::CallEnded { call, is_error: false, output: words.repeat(3) },
    };
    let event_id = format!("provider-event-{number:08}");
    RunnerCommand::Observe(Box::new(Observed { event_id, source: Source::Provider, observation }))
}
