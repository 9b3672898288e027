//! How many commits a second, with 1, 16 and 256 concurrent writers, against how often this disk can sync at all, measured
//! before and after each round, since others may be using the disk. Each
//! commit is like a step's: a fence, an expectation, one event of 400 bytes; each writer has a stream and a lease of its own
//! and waits for one commit before it makes the next. Give a folder on the disk in question as the argument; or the address of a
//! PostgreSQL database, which several of these may use at once to see what taking turns costs.

#![expect(clippy::print_stdout, reason = "a benchmark talks to whoever ran it")]
#![expect(clippy::disallowed_methods, reason = "a benchmark has its own executor and reads the clock")]

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use windlass_domain::{Encoded, OwnerId, Runtime, Seq, Taint, Tenant, Wall};
use windlass_runtime::TokioRuntime;
use windlass_store::lease::{Claim, LeaseChange};
use windlass_store::owner::{NewOwner, register};
use windlass_store::postgres::{self, Address, PostgresStore};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, Epoch, Fence, LeaseName, NewEvent, Store, StreamId};

const ROUND: Duration = Duration::from_secs(4);

fn main() {
    let base = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    if let Ok(address) = Address::parse(&base) {
        return on_postgres(&address);
    }
    let folder = tempfile::tempdir_in(&base).expect("a folder to work in");
    println!(
        "{:>8} {:>12} {:>14} {:>12} {:>14} {:>14} {:>10}",
        "writers", "commits/s", "disk syncs/s", "ratio", "CPU us/commit", "bytes/commit", "open ms"
    );
    for writers in [1, 16, 256] {
        let data_dir = folder.path().join(format!("with-{writers}"));
        let before = sync_rate(folder.path());
        let run = measure(writers, |_, runtime| {
            Arc::new(SqliteStore::open(Options::new(&data_dir), runtime).expect("a store"))
        });
        let syncs = f64::midpoint(before, sync_rate(folder.path()));
        println!(
            "{writers:>8} {:>12.0} {syncs:>14.0} {:>12.2} {:>14.1} {:>14.0} {:>10.1}",
            run.rate,
            run.rate / syncs,
            run.cpu_micros,
            database_bytes(&data_dir) as f64 / run.commits as f64,
            open_millis(&data_dir),
        );
    }
}

fn on_postgres(address: &Address) {
    println!("{:>8} {:>12} {:>14}", "writers", "commits/s", "CPU us/commit");
    for writers in [1, 16, 256] {
        let run = measure(writers, |executor, runtime| {
            let opened = PostgresStore::open(postgres::Options::new(address.clone()), runtime);
            Arc::new(executor.block_on(opened).expect("a store"))
        });
        println!("{writers:>8} {:>12.0} {:>14.1}", run.rate, run.cpu_micros);
    }
}

fn sync_rate(folder: &Path) -> f64 {
    let file = File::create(folder.join("probe")).expect("a file");
    let page = [1_u8; 4096];
    for index in 0..256 {
        file.write_all_at(&page, index * 4096).expect("written");
    }
    file.sync_all().expect("synced");
    let (start, mut syncs) = (Instant::now(), 0_u64);
    while start.elapsed() < Duration::from_secs(1) {
        file.write_all_at(&page, syncs % 256 * 4096).expect("written");
        file.sync_data().expect("synced");
        syncs += 1;
    }
    syncs as f64 / start.elapsed().as_secs_f64()
}

struct Run {
    commits: u64,
    rate: f64,
    cpu_micros: f64,
}

type Opened = Arc<dyn Store>;

fn measure(writers: u64, open: impl FnOnce(&tokio::runtime::Runtime, Arc<dyn Runtime>) -> Opened) -> Run {
    let executor = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("an executor");
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::new(executor.handle().clone()));
    let store = open(&executor, Arc::clone(&runtime));
    let owner = OwnerId::new(runtime.wall(), runtime.random());
    let new = NewOwner {
        id: owner,
        host: "bench".into(),
        boot_id: "bench".into(),
        pid: std::process::id(),
        level: windlass_domain::JOURNAL_LEVEL,
    };
    executor.block_on(register(&*store, new, runtime.wall())).expect("registered");
    let (start, cpu) = (Instant::now(), cpu_time());
    let tasks: Vec<_> = (0..writers)
        .map(|writer| executor.spawn(write_for(Arc::clone(&store), owner, writer, start + ROUND)))
        .collect();
    let commits: u64 = tasks.into_iter().map(|task| executor.block_on(task).expect("a writer ends")).sum();
    let (elapsed, cpu) = (start.elapsed(), cpu_time() - cpu);
    Run { commits, rate: commits as f64 / elapsed.as_secs_f64(), cpu_micros: cpu.as_secs_f64() * 1e6 / commits as f64 }
}

async fn write_for(store: Opened, owner: OwnerId, writer: u64, until: Instant) -> u64 {
    let (tenant, at) = (Tenant::local(), Wall::from_millis(1_700_000_000_000));
    // The owner's, so that several of these do not meet.
    let name = format!("{owner}-{writer}");
    let (lease, stream) = (LeaseName::new("execution", &name), StreamId::new("execution", &name));
    let mut take = Commit::unfenced(tenant.clone(), at);
    take.leases.push(LeaseChange::Take { lease: lease.clone(), owner, claim: Claim::Unheld });
    store.commit(take).await.expect("a free lease");
    let fence = Fence { lease, owner, epoch: Epoch(1) };
    let data: Box<RawValue> = serde_json::value::to_raw_value(&"x".repeat(398)).expect("text");
    let mut commits = 0;
    while Instant::now() < until {
        let mut commit = Commit::fenced(tenant.clone(), at, fence.clone());
        commit.expect.push((stream.clone(), Seq(commits)));
        let encoded = Encoded { kind: "model.responded", version: 1, data: data.clone(), since: 1, older: &[] };
        commit.events.push(NewEvent { stream: stream.clone(), encoded, taint: Taint::Owner, at });
        store.commit(commit).await.expect("nobody else writes this stream");
        commits += 1;
    }
    commits
}

/// Of the whole process, user and system.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("procfs");
    let after_name = stat.rsplit_once(')').expect("a name in brackets").1;
    let ticks: u64 =
        after_name.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().expect("ticks")).sum();
    Duration::from_millis(ticks * 10)
}

/// After closing, which moves the log into it.
fn database_bytes(data_dir: &Path) -> u64 {
    data_dir.join("windlass.db").metadata().expect("a database").len()
}

/// Opening a database that is there, as every command does.
fn open_millis(data_dir: &Path) -> f64 {
    let executor = tokio::runtime::Builder::new_multi_thread().enable_time().build().expect("an executor");
    let runtime = Arc::new(TokioRuntime::new(executor.handle().clone()));
    let start = Instant::now();
    let store = SqliteStore::open(Options::new(data_dir), runtime).expect("a store");
    let elapsed = start.elapsed();
    drop(store);
    elapsed.as_secs_f64() * 1e3
}
