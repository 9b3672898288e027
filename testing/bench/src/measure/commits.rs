//! How many commits a second, with 1, 16 and 256 concurrent writers, against how often this disk can sync at all. A commit is
//! like a step's: a fence, an expectation, one event of 400 bytes; each writer has a stream and a lease of its own and waits
//! for one commit before it makes the next.

#![expect(clippy::disallowed_methods, reason = "a benchmark builds its executor and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use windlass_domain::{Encoded, OwnerId, Runtime as _, Seq, Taint, Tenant, Wall};
use windlass_runtime::TokioRuntime;
use windlass_store::lease::{Claim, LeaseChange};
use windlass_store::owner::{NewOwner, register};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, Epoch, Fence, LeaseName, NewEvent, Store, StreamId};

use crate::arguments::Commits;
use crate::process::own_cpu;

const ROUND: Duration = Duration::from_secs(3);
pub const WRITERS: [u64; 3] = [1, 16, 256];

/// What it prints when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub syncs_per_s: f64,
    /// One for each of `WRITERS`.
    pub rounds: Vec<Round>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Round {
    pub per_s: f64,
    pub cpu_micros: f64,
}

pub fn run(commits: &Commits) -> anyhow::Result<()> {
    let folder = tempfile::tempdir_in(&commits.scratch)?;
    // Before and after: a disk that others use is not the same disk for long.
    let before = syncs(folder.path())?;
    let rounds = WRITERS.iter().map(|writers| round(&folder.path().join(writers.to_string()), *writers));
    let rounds = rounds.collect::<anyhow::Result<Vec<_>>>()?;
    let after = syncs(folder.path())?;
    let figures = Figures { syncs_per_s: f64::midpoint(before, after), rounds };
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

pub fn syncs(folder: &Path) -> std::io::Result<f64> {
    const PAGES: u64 = 256;
    let file = File::create(folder.join("probe"))?;
    let page = [1_u8; 4096];
    for index in 0..PAGES {
        file.write_all_at(&page, index * 4096)?;
    }
    file.sync_all()?;
    let (begun, mut count) = (Instant::now(), 0_u64);
    while begun.elapsed() < Duration::from_secs(1) {
        file.write_all_at(&page, count % PAGES * 4096)?;
        file.sync_data()?;
        count += 1;
    }
    Ok(count as f64 / begun.elapsed().as_secs_f64())
}

pub fn round(data_dir: &Path, writers: u64) -> anyhow::Result<Round> {
    let executor = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
    let runtime = Arc::new(TokioRuntime::new(executor.handle().clone()));
    let store = Arc::new(SqliteStore::open(Options::new(data_dir), runtime.clone())?);
    let owner = OwnerId::new(runtime.wall(), runtime.random());
    let new = NewOwner {
        id: owner,
        host: "bench".into(),
        boot_id: "bench".into(),
        pid: std::process::id(),
        level: windlass_domain::JOURNAL_LEVEL,
    };
    executor.block_on(register(&*store, new, runtime.wall()))?;
    let (begun, cpu) = (Instant::now(), own_cpu());
    let writing: Vec<_> =
        (0..writers).map(|writer| executor.spawn(write(Arc::clone(&store), owner, writer, begun + ROUND))).collect();
    let mut commits = 0;
    for writer in writing {
        commits += executor.block_on(writer)??;
    }
    let (elapsed, cpu) = (begun.elapsed(), own_cpu() - cpu);
    Ok(Round { per_s: commits as f64 / elapsed.as_secs_f64(), cpu_micros: cpu.as_secs_f64() * 1e6 / commits as f64 })
}

async fn write(store: Arc<SqliteStore>, owner: OwnerId, writer: u64, until: Instant) -> anyhow::Result<u64> {
    let (tenant, at) = (Tenant::local(), Wall::from_millis(1_700_000_000_000));
    let (lease, stream) = (LeaseName::new("execution", writer), StreamId::new("execution", writer));
    let mut take = Commit::unfenced(tenant.clone(), at);
    take.leases.push(LeaseChange::Take { lease: lease.clone(), owner, claim: Claim::Unheld });
    store.commit(take).await?;
    let fence = Fence { lease, owner, epoch: Epoch(1) };
    let data: Box<RawValue> = serde_json::value::to_raw_value(&"x".repeat(398))?;
    let mut commits = 0;
    while Instant::now() < until {
        let mut commit = Commit::fenced(tenant.clone(), at, fence.clone());
        commit.expect.push((stream.clone(), Seq(commits)));
        let encoded = Encoded { kind: "model.responded", version: 1, data: data.clone(), since: 1, older: &[] };
        commit.events.push(NewEvent { stream: stream.clone(), encoded, taint: Taint::Owner, at });
        store.commit(commit).await?;
        commits += 1;
    }
    Ok(commits)
}
