//! Messages through a queue at full durability: put, leased and acked, by producers and consumers that each wait for one
//! thing before they do the next; how long a message takes from who puts it to who waits for it; and what its head costs when
//! a million messages wait. The disk's own syncs, measured in the same run, are what it is compared with.

#![expect(clippy::disallowed_methods, reason = "a measured part has its own executor and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use windlass_domain::queue::{MessageKind, QueueMessage, Sender, Urgency};
use windlass_domain::{MessageId, OwnerId, Runtime as _, Taint, Tenant, TraceId};
use windlass_runtime::TokioRuntime;
use windlass_store::owner::{NewOwner, register};
use windlass_store::queue::{Consumer, Desk, Leased, Queue, Silent, enqueue};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, Store, Topic};

use super::commits::syncs;
use crate::arguments::Queues;
use crate::figures::Spread;
use crate::process::own_cpu;

const ROUND: Duration = Duration::from_secs(3);
pub const CONSUMERS: [usize; 3] = [1, 4, 16];
pub const MANY: u64 = 1_000_000;
const HANDOFFS: usize = 2_000;
const AT_THE_HEAD: usize = 2_000;
/// A limit in case a hint is lost.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What it prints when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub syncs_per_s: f64,
    /// One for each of `CONSUMERS`.
    pub rounds: Vec<Round>,
    /// Microseconds, as those below.
    pub handoff: Spread,
    pub head_of_few: Spread,
    pub head_of_many: Spread,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Round {
    pub per_s: f64,
    pub cpu_micros: f64,
}

pub fn run(queues: &Queues) -> anyhow::Result<()> {
    let folder = tempfile::tempdir_in(&queues.scratch)?;
    let place = |name: &str| folder.path().join(name);
    // Before and after: a disk that others use is not the same disk for long.
    let before = syncs(folder.path())?;
    let round = |consumers: &usize| Bench::open(&place(&consumers.to_string()))?.round(*consumers);
    let rounds = CONSUMERS.iter().map(round).collect::<anyhow::Result<Vec<_>>>()?;
    let after = syncs(folder.path())?;
    let handoff = Bench::open(&place("handoff"))?.hand_off()?;
    let head_of_few = Bench::open(&place("few"))?.head(0)?;
    let head_of_many = Bench::open(&place("many"))?.head(MANY)?;
    let syncs_per_s = f64::midpoint(before, after);
    let figures = Figures { syncs_per_s, rounds, handoff, head_of_few, head_of_many };
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

/// One process with a store of its own.
struct Bench {
    executor: tokio::runtime::Runtime,
    worker: Worker,
}

#[derive(Clone)]
struct Worker {
    runtime: Arc<TokioRuntime>,
    store: Arc<SqliteStore>,
    owner: OwnerId,
}

impl Bench {
    fn open(data_dir: &Path) -> anyhow::Result<Self> {
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
        Ok(Self { executor, worker: Worker { runtime, store, owner } })
    }

    /// As many producers as consumers.
    fn round(&self, consumers: usize) -> anyhow::Result<Round> {
        let (begun, cpu) = (Instant::now(), own_cpu());
        let (is_over, put) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let consumer = self.worker.consumer();
        let mut producing = Vec::new();
        let mut consuming = Vec::new();
        for _ in 0..consumers {
            producing.push(self.executor.spawn(self.worker.clone().produce(begun + ROUND, Arc::clone(&put))));
            consuming.push(self.executor.spawn(self.worker.clone().consume(consumer.clone(), Arc::clone(&is_over))));
        }
        for producer in producing {
            self.executor.block_on(producer)??;
        }
        is_over.store(true, Ordering::SeqCst);
        let mut done = 0;
        for consumer in consuming {
            done += self.executor.block_on(consumer)??;
        }
        let (elapsed, cpu) = (begun.elapsed(), own_cpu() - cpu);
        anyhow::ensure!(done == put.load(Ordering::SeqCst), "a message was lost or done twice");
        Ok(Round { per_s: done as f64 / elapsed.as_secs_f64(), cpu_micros: cpu.as_secs_f64() * 1e6 / done as f64 })
    }

    /// From the moment somebody wants to put a message to the one in which another, who waited for it, has it.
    fn hand_off(&self) -> anyhow::Result<Spread> {
        let (worker, mut lengths) = (&self.worker, Vec::new());
        let mut consumer = worker.consumer();
        let mut hints = worker.store.notifier().subscribe(Topic::Queue { queue: Queue::Planner.name().to_owned() });
        for _ in 0..HANDOFFS {
            let begun = Instant::now();
            let putting = self.executor.spawn(worker.clone().put());
            let taken: anyhow::Result<Leased> = self.executor.block_on(async {
                loop {
                    if let Some(leased) = worker.desk().lease(&mut consumer).await? {
                        return Ok(leased);
                    }
                    hints.changed(LOOK_AGAIN).await;
                }
            });
            let taken = taken?;
            lengths.push(begun.elapsed());
            self.executor.block_on(putting)??;
            self.executor.block_on(worker.ack(&taken))?;
        }
        Ok(Spread::in_micros(lengths))
    }

    /// What leasing costs with so many others behind.
    fn head(&self, waiting: u64) -> anyhow::Result<Spread> {
        const AT_ONCE: u64 = 1_000;
        let worker = &self.worker;
        for _ in 0..waiting / AT_ONCE {
            let mut commit = worker.commit();
            for _ in 0..AT_ONCE {
                let message = QueueMessage { urgency: Urgency::Background, ..worker.message() };
                enqueue(&mut commit, Queue::Planner, &message)?;
            }
            self.executor.block_on(worker.store.commit(commit))?;
        }
        let mut consumer = worker.consumer();
        let mut lengths = Vec::new();
        for _ in 0..AT_THE_HEAD {
            self.executor.block_on(worker.clone().put())?;
            let begun = Instant::now();
            let leased = self.executor.block_on(worker.desk().lease(&mut consumer))?;
            lengths.push(begun.elapsed());
            let leased = leased.ok_or_else(|| anyhow::anyhow!("there was nothing at the head"))?;
            self.executor.block_on(worker.ack(&leased))?;
        }
        Ok(Spread::in_micros(lengths))
    }
}

impl Worker {
    fn desk(&self) -> Desk<'_> {
        Desk::new(&*self.store, &*self.runtime, &Silent)
    }

    fn consumer(&self) -> Consumer {
        Consumer::new(Queue::Planner, self.owner)
    }

    fn commit(&self) -> Commit {
        Commit::unfenced(Tenant::local(), self.runtime.wall())
    }

    fn message(&self) -> QueueMessage {
        let (now, random) = (self.runtime.wall(), self.runtime.random());
        let from = (Sender::Proxy, MessageKind::PlanRequest);
        let whose = (Tenant::local(), Taint::Auth);
        QueueMessage::new(MessageId::new(now, random), TraceId::new(now, random), from, whose, "x".repeat(200), now)
    }

    async fn put(self) -> anyhow::Result<()> {
        let mut commit = self.commit();
        enqueue(&mut commit, Queue::Planner, &self.message())?;
        self.store.commit(commit).await?;
        Ok(())
    }

    async fn ack(&self, leased: &Leased) -> anyhow::Result<()> {
        self.desk().ack(leased, self.commit()).await?;
        Ok(())
    }

    async fn produce(self, until: Instant, put: Arc<AtomicU64>) -> anyhow::Result<()> {
        while Instant::now() < until {
            self.clone().put().await?;
            put.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Until the queue is empty and nobody fills it any more.
    async fn consume(self, mut consumer: Consumer, is_over: Arc<AtomicBool>) -> anyhow::Result<u64> {
        let mut hints = self.store.notifier().subscribe(Topic::Queue { queue: Queue::Planner.name().to_owned() });
        let mut done = 0;
        loop {
            let nothing_will_come = is_over.load(Ordering::SeqCst);
            let mut in_hand = self.desk().lease(&mut consumer).await?;
            if in_hand.is_none() && nothing_will_come {
                return Ok(done);
            }
            while let Some(leased) = in_hand {
                let turn = self.desk().ack_and_lease(&leased, self.commit(), &mut consumer).await;
                turn.acked?;
                done += 1;
                in_hand = turn.next?;
            }
            hints.changed(LOOK_AGAIN).await;
        }
    }
}
