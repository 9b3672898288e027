//! Tasks that wait for a person: what ten thousand of them hold in memory and on disk, and how long one takes to go on once
//! its card is answered. Each is a whole run of the native loop over a rehearsed model that asks for something risky; no
//! sandbox is opened, since nothing here is about one.

#![expect(clippy::disallowed_methods, reason = "a measured part builds its executor and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use windlass_domain::TaskId;
use windlass_engine::{Dispatch, Driven, Engine, NobodyWatches};

use crate::arguments::Parked;
use crate::house::{House, submission, yes};
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
    let house = House::open(scratch.path(), handle.clone())?;
    let engine = &house.engine;
    let workspace = scratch.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    park(engine, &workspace, FIRST, &handle).await?;
    let (memory, disk) = (resident(), database(scratch.path()));
    let begun = Instant::now();
    park(engine, &workspace, options.tasks, &handle).await?;
    let elapsed = begun.elapsed();
    let each = |before: u64, after: u64| after.saturating_sub(before) as f64 / options.tasks as f64;
    let (memory_bytes, disk_bytes) = (each(memory, resident()), each(disk, database(scratch.path())));
    let mut woken = wake(&house).await?;
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

pub async fn park(
    engine: &Engine,
    workspace: &Path,
    tasks: usize,
    handle: &tokio::runtime::Handle,
) -> anyhow::Result<()> {
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
    let task = engine.submit(submission(&workspace, SCRIPT), Dispatch::Here, None).await?;
    match engine.drive(task, Arc::new(NobodyWatches)).await? {
        Driven::Waiting(_) => Ok(task),
        other => anyhow::bail!("a task should wait, and is {other:?}"),
    }
}

/// From the answer to the end of the run that waited for it, in milliseconds.
async fn wake(House { engine, key }: &House) -> anyhow::Result<Vec<f64>> {
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
