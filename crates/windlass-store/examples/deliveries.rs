//! How many messages a second go through a queue, enqueued, leased and acked at full durability, with 1, 4, 16 and 64
//! consumers, each of which waits for one commit before it makes the next; and what leasing costs when a million others
//! wait in the queue. Give a folder on the disk in question as the argument.

#![expect(clippy::print_stdout, reason = "a benchmark talks to whoever ran it")]
#![expect(clippy::disallowed_methods, reason = "a benchmark has its own executor and reads the clock")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_domain::queue::{MessageKind, QueueMessage, Sender};
use windlass_domain::{MessageId, OwnerId, Runtime, Taint, Tenant, TraceId, Wall};
use windlass_runtime::TokioRuntime;
use windlass_store::owner::{NewOwner, register};
use windlass_store::queue::{Consumer, Desk, Queue, Silent, enqueue};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, Store};

const ROUND: Duration = Duration::from_secs(4);
const NOW: Wall = Wall::from_millis(1_700_000_000_000);

fn main() {
    let base = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let million: u64 = std::env::args().nth(2).map_or(1_000_000, |number| number.parse().expect("a number"));
    let folder = tempfile::tempdir_in(&base).expect("a folder to work in");
    println!("{:>10} {:>10} {:>14} {:>14} {:>12}", "waiting", "consumers", "lease+ack/s", "p50 lease us", "p99 us");
    for waiting in [100_000, million] {
        let bench = Bench::new(&folder.path().join(format!("with-{waiting}")));
        bench.fill(waiting);
        for consumers in [1, 4, 16, 64] {
            let mut run = bench.consume(consumers);
            run.waits.sort_unstable();
            let at = |part: f64| run.waits[((run.waits.len() - 1) as f64 * part) as usize].as_micros();
            let rate = run.waits.len() as f64 / run.elapsed.as_secs_f64();
            println!("{waiting:>10} {consumers:>10} {rate:>14.0} {:>14} {:>12}", at(0.5), at(0.99));
        }
    }
}

struct Bench {
    executor: tokio::runtime::Runtime,
    runtime: Arc<TokioRuntime>,
    store: Arc<SqliteStore>,
}

struct Run {
    elapsed: Duration,
    waits: Vec<Duration>,
}

impl Bench {
    fn new(data_dir: &Path) -> Self {
        let executor = tokio::runtime::Builder::new_multi_thread().enable_time().build().expect("an executor");
        let runtime = Arc::new(TokioRuntime::new(executor.handle().clone()));
        let store = Arc::new(SqliteStore::open(Options::new(data_dir), runtime.clone()).expect("a store"));
        Self { executor, runtime, store }
    }

    fn fill(&self, messages: u64) {
        let start = Instant::now();
        for first in (0..messages).step_by(1_000) {
            let mut commit = Commit::unfenced(Tenant::local(), NOW);
            for number in first..messages.min(first + 1_000) {
                let (id, from) =
                    (MessageId::new(NOW, u128::from(number) << 64), (Sender::Proxy, MessageKind::PlanRequest));
                let whose = (Tenant::local(), Taint::Auth);
                let message = QueueMessage::new(id, TraceId::new(NOW, 1), from, whose, "x".repeat(200), NOW);
                enqueue(&mut commit, Queue::Planner, &message).expect("as it should be");
            }
            self.executor.block_on(self.store.commit(commit)).expect("a store that works");
        }
        println!("{messages} enqueued, {:.0}/s", messages as f64 / start.elapsed().as_secs_f64());
    }

    fn consume(&self, consumers: u64) -> Run {
        let start = Instant::now();
        let tasks: Vec<_> = (0..consumers)
            .map(|_| self.executor.spawn(consume_until(Arc::clone(&self.store), self.runtime.clone(), start + ROUND)))
            .collect();
        let waits = tasks.into_iter().flat_map(|task| self.executor.block_on(task).expect("a consumer ends")).collect();
        Run { elapsed: start.elapsed(), waits }
    }
}

/// How long each lease took.
async fn consume_until(store: Arc<SqliteStore>, runtime: Arc<TokioRuntime>, until: Instant) -> Vec<Duration> {
    let id = OwnerId::new(runtime.wall(), runtime.random());
    let new = NewOwner { id, host: "bench".into(), boot_id: "bench".into(), pid: std::process::id() };
    register(&*store, new, NOW).await.expect("registered");
    let (desk, mut consumer) = (Desk::new(&*store, &*runtime, &Silent), Consumer::new(Queue::Planner, id));
    let mut waits = Vec::new();
    while Instant::now() < until {
        let start = Instant::now();
        let Some(leased) = desk.lease(&mut consumer).await.expect("no trouble") else { break };
        waits.push(start.elapsed());
        desk.ack(&leased, Commit::unfenced(Tenant::local(), NOW)).await.expect("it is ours");
    }
    waits
}
