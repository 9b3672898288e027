//! A worker: takes tasks of every tenant from the queues and drives them, several at a time; minds timers, such as those of cards
//! that nobody answers; and goes on with what others left behind when they died. Everything it does is found in the store, so that
//! any number of workers may come and go.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{Either, select, select_all};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use windlass_domain::{BoxFuture, CancelSignal, Instant, Runtime, Stop, TaskId, Tenant, TraceId, Wall};
use windlass_store::Topic;
use windlass_store::queue::{Consumer, Leased, TakenOver};

use crate::Error;
use crate::dispatch::{WORK_QUEUES, is_errand, is_look, is_news};
use crate::engine::Engine;
use crate::goals::goal_of;
use crate::process::{owner, retire_process};
use crate::watch::Watcher;

/// How often it looks for what no hint tells: silent owners, timers, lost hints. What expires is noticed within a second.
const LOOK_EVERY: Duration = Duration::from_millis(900);

/// So much may the clock on the wall be corrected without anybody having to look what it was ahead for.
const CORRECTION: Duration = Duration::from_secs(5);

/// The clock on the wall beside one that is never set.
struct Clock {
    wall: Wall,
    now: Instant,
}

impl Clock {
    fn read(runtime: &dyn Runtime) -> Self {
        Self { wall: runtime.wall(), now: runtime.now() }
    }

    /// Since this was last asked. What is due some time after it was ahead would come too late.
    fn was_put_back(&mut self, runtime: &dyn Runtime) -> bool {
        let before = std::mem::replace(self, Self::read(runtime));
        self.wall + CORRECTION < before.wall + (self.now - before.now)
    }
}

/// How long it waits before it asks again for a store that is gone, at first and at most; the store itself is patient, too.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

type OfTask = Arc<dyn Fn(&Tenant, TaskId) -> Arc<dyn Watcher> + Send + Sync>;
type OfWorker = Arc<dyn Fn(&WorkerNews<'_>) + Send + Sync>;

/// Who is told what a worker does.
#[derive(Clone)]
pub struct Watchers {
    of_task: OfTask,
    of_worker: OfWorker,
}

impl Watchers {
    /// Who watches a task that it drives.
    pub fn new(of_task: impl Fn(&Tenant, TaskId) -> Arc<dyn Watcher> + Send + Sync + 'static) -> Self {
        Self { of_task: Arc::new(of_task), of_worker: Arc::new(|_| {}) }
    }

    /// Who hears how the worker itself fares.
    #[must_use]
    pub fn hearing(mut self, of_worker: impl Fn(&WorkerNews<'_>) + Send + Sync + 'static) -> Self {
        self.of_worker = Arc::new(of_worker);
        self
    }
}

/// Each is told once.
#[derive(Debug)]
pub enum WorkerNews<'a> {
    /// It lets go of what it has begun, and waits until the store is back.
    StoreGone(&'a Error),
    StoreBack,
}

#[derive(Debug, Clone, Copy)]
pub struct WorkerOptions {
    /// How many tasks at a time.
    pub concurrency: usize,
    /// And how many of them of one tenant.
    pub per_tenant: usize,
    pub until: Until,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    Stopped,
    /// There is nothing to do right now.
    Idle,
}

/// Seed 001 §7.1's `max_concurrent_global` and `max_concurrent`.
impl Default for WorkerOptions {
    fn default() -> Self {
        Self { concurrency: 16, per_tenant: 8, until: Until::Stopped }
    }
}

/// Says once that the store is gone.
struct Outages<'a> {
    tell: &'a OfWorker,
    is_told: bool,
}

impl Outages<'_> {
    fn begun(&mut self, outage: &Error) {
        if !std::mem::replace(&mut self.is_told, true) {
            (self.tell)(&WorkerNews::StoreGone(outage));
        }
    }
}

/// Who sits where: how many tasks of each tenant are being worked on.
#[derive(Clone, Default)]
struct Seats(Arc<Mutex<BTreeMap<Tenant, usize>>>);

/// One task's place, until it is dropped.
struct Seat {
    seats: Seats,
    tenant: Tenant,
}

impl Seats {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Tenant, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, tenant: &Tenant) -> Seat {
        *self.lock().entry(tenant.clone()).or_default() += 1;
        Seat { seats: self.clone(), tenant: tenant.clone() }
    }

    fn full(&self, most: usize) -> BTreeSet<Tenant> {
        self.lock().iter().filter(|(_, taken)| **taken >= most).map(|(tenant, _)| tenant.clone()).collect()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut seats = self.seats.lock();
        if let Some(taken) = seats.get_mut(&self.tenant) {
            *taken -= 1;
        }
        seats.retain(|_, taken| *taken > 0);
    }
}

/// What came of it is in the journal.
type Driving = BoxFuture<'static, ()>;

impl Engine {
    /// Works until told to stop. Asked to pause, it takes nothing new and ends what it has begun; asked for more, it leaves
    /// that to others at once. A store that is gone is waited for.
    pub async fn work(&self, options: WorkerOptions, watchers: Watchers, stop: CancelSignal) -> Result<(), Error> {
        loop {
            let mut outages = Outages { tell: &watchers.of_worker, is_told: false };
            match Box::pin(self.work_until_trouble(options, &watchers, &stop, &mut outages)).await {
                // Also when it is told to end: what it held is to be given back.
                Err(outage) if outage.is_outage() && options.until == Until::Stopped => {
                    outages.begun(&outage);
                    Box::pin(self.outlast(&stop)).await?;
                    (watchers.of_worker)(&WorkerNews::StoreBack);
                    if stop.raised().is_some() {
                        return Ok(());
                    }
                }
                worked => return worked,
            }
        }
    }

    /// Until the store is back, and what this process held when it went is given back. What it had begun may be another's by now, and
    /// a commit of which nobody heard may have given it more than it knows of: it begins anew, as another owner. Told to end, it asks
    /// once more.
    async fn outlast(&self, stop: &CancelSignal) -> Result<(), Error> {
        let house = &self.shared.house;
        let mut pause = FIRST_PAUSE;
        loop {
            match self.begin_anew().await {
                Ok(()) => break,
                Err(error) if error.is_outage() && stop.raised().is_none() => {}
                Err(error) => return Err(error),
            }
            select(house.runtime.sleep(pause), stop.wait()).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
        house.take_kept();
        Ok(())
    }

    async fn begin_anew(&self) -> Result<(), Error> {
        let house = &self.shared.house;
        house.lock_in_hand().clear();
        retire_process(house).await?;
        owner(house).await?;
        Ok(())
    }

    async fn work_until_trouble(
        &self,
        options: WorkerOptions,
        watchers: &Watchers,
        stop: &CancelSignal,
        outages: &mut Outages<'_>,
    ) -> Result<(), Error> {
        let shared = &self.shared;
        let mut consumers = Vec::new();
        let mut hints = Vec::new();
        for queue in WORK_QUEUES {
            consumers.push(shared.consumer(queue).await?);
            hints.push(shared.store.notifier().subscribe(Topic::Queue { queue: queue.name().to_owned() }));
        }
        let mut driving: FuturesUnordered<Driving> = FuturesUnordered::new();
        let seats = Seats::default();
        // Also where there is nothing to do for a long time.
        Box::pin(self.sweep_worktrees_once()).await?;
        Box::pin(self.fire_overslept()).await?;
        let mut clock = Clock::read(shared.runtime.as_ref());
        let mut trouble = Ok(());
        loop {
            if clock.was_put_back(shared.runtime.as_ref()) && trouble.is_ok() {
                trouble = alongside(&mut driving, Box::pin(self.fire_overslept())).await;
            }
            // In trouble, or where the disk is nearly full, it takes nothing new; what it has begun is not dropped in the middle.
            if trouble.is_ok() && stop.raised().is_none() && shared.short_of_room().is_none() {
                let room = options.concurrency.saturating_sub(driving.len());
                let mut taken = Vec::new();
                let at_work = driving.len();
                trouble =
                    alongside(&mut driving, self.look(&mut consumers, (room, options.per_tenant), &seats, &mut taken))
                        .await;
                let took_all_it_could = taken.len() == room;
                let has_one_ended = driving.len() < at_work;
                driving.extend(taken.into_iter().map(|(leased, seat)| self.drive_for(leased, seat, watchers)));
                // Something ended while it looked: there may be more than it had room for, and more than it saw.
                let is_anything_left = (took_all_it_could && driving.len() < options.concurrency) || has_one_ended;
                if trouble.is_ok() && is_anything_left {
                    continue;
                }
            }
            // Others see that this process lives, and leave to it what it holds.
            if trouble.is_ok() {
                trouble = match shared.take_kept() {
                    None => Ok(()),
                    Some(outage) if outage.is_outage() => Err(outage),
                    Some(why) => Err(Error::Kept(why.to_string())),
                };
            }
            let is_done = trouble.is_err() || stop.raised().is_some() || options.until == Until::Idle;
            if driving.is_empty() && is_done {
                return trouble;
            }
            let outage = trouble.as_ref().err().filter(|error| error.is_outage());
            if let Some(outage) = outage {
                // At once: whoever mends it need not wait until all that was begun has noticed.
                outages.begun(outage);
            }
            if outage.is_some() || stop.raised() > Some(Stop::Pause) {
                shared.stop_all(Stop::LeaseLost);
            }
            let finished = pin!(async {
                match driving.is_empty() {
                    true => std::future::pending().await,
                    // What came of it is in the journal.
                    false => drop(driving.next().await),
                }
            });
            let hint = pin!(select_all(hints.iter_mut().map(|hint| Box::pin(hint.changed(LOOK_EVERY)))));
            match stop.raised() {
                // It has been heard; a stronger word is looked for now and then.
                Some(_) => {
                    select(finished, hint).await;
                }
                None => {
                    select(finished, select(hint, stop.wait())).await;
                }
            }
        }
    }

    /// Minds timers, and takes as many tasks as there is room for.
    async fn look(
        &self,
        consumers: &mut [Consumer],
        (room, per_tenant): (usize, usize),
        seats: &Seats,
        taken: &mut Vec<(Leased, Seat)>,
    ) -> Result<(), Error> {
        self.let_timers_fire().await?;
        for consumer in consumers {
            let sampler = TraceId::new(self.shared.wall(), self.shared.runtime.random());
            self.shared.desk().sample_depth(consumer.queue, sampler).await?;
            while taken.len() < room {
                consumer.leave_out(seats.full(per_tenant));
                let Some(leased) = self.next_task(consumer).await? else { break };
                let seat = seats.take(&leased.message.scope_id);
                taken.push((leased, seat));
            }
        }
        Ok(())
    }

    /// One that waits for somebody, or else one whose driver is gone.
    async fn next_task(&self, consumer: &mut Consumer) -> Result<Option<Leased>, Error> {
        let desk = self.shared.desk();
        if let Some(leased) = desk.lease(consumer).await? {
            return Ok(Some(leased));
        }
        let mut witness = self.shared.process.witness.lock().await;
        match desk.take_over(consumer, &mut witness).await? {
            TakenOver::Message(leased) => Ok(Some(*leased)),
            TakenOver::Nothing => Ok(None),
        }
    }

    fn drive_for(&self, leased: Leased, seat: Seat, watchers: &Watchers) -> Driving {
        let engine = self.for_tenant(leased.message.scope_id.clone());
        let watchers = Arc::clone(&watchers.of_task);
        Box::pin(async move {
            let _until_it_is_done = seat;
            // Nobody is sent for by news.
            if is_news(leased.message.message_kind) {
                if let Err(error) = engine.hear_news(&leased).await {
                    engine.put_back(&leased, &error).await;
                }
                return;
            }
            let Some(task) = leased.message.task_id else {
                let _another_has_it = engine.shared.desk().dead_letter(&leased, "it names no task").await;
                return;
            };
            // What a gate hands over is for a person: driving the task would go on with what may rest on purpose.
            if !is_errand(&leased.message) {
                let wanted = format!("a gate asks for {}; look at task {task}", leased.message.content);
                let _another_has_it = engine.shared.desk().dead_letter(&leased, &wanted).await;
                return;
            }
            // A look is no task, and nobody watches it.
            if is_look(&leased.message) {
                let looked = Box::pin(engine.look_at_goal(goal_of(task), &leased)).await.map(drop);
                return engine.tell_trouble(looked, || watchers(&engine.shared.tenant, task)).await;
            }
            let watcher = watchers(&engine.shared.tenant, task);
            let driven = engine.drive_leased(task, leased, Arc::clone(&watcher)).await.map(drop);
            engine.tell_trouble(driven, || watcher).await;
        })
    }

    /// Says what went wrong with work that has come to rest, and seals what it left in the audit.
    async fn tell_trouble(&self, done: Result<(), Error>, watcher: impl FnOnce() -> Arc<dyn Watcher> + Send) {
        let sealed = self.seal().await;
        let is_trouble = |error: &Error| {
            // Somebody else works on it, or will; or nobody wants it done any more.
            !matches!(error, Error::LeaseLost(_) | Error::HeldElsewhere { .. } | Error::Goal(_))
        };
        let troubles = [done, sealed].into_iter().filter_map(Result::err).filter(is_trouble);
        let (outages, troubles): (Vec<Error>, Vec<Error>) = troubles.partition(Error::is_outage);
        if !troubles.is_empty() {
            let watcher = watcher();
            troubles.iter().for_each(|error| watcher.trouble(&error.to_string()));
        }
        // The worker says it, once for all; and what was held here may not have been given back.
        outages.into_iter().for_each(|outage| self.shared.keep(outage));
    }
}

/// Does `work` while what is driven goes on: it may hold what `work` waits for.
async fn alongside<T>(driving: &mut FuturesUnordered<Driving>, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    while !driving.is_empty() {
        if let Either::Left((done, _)) = select(work.as_mut(), driving.next()).await {
            return done;
        }
    }
    work.await
}
