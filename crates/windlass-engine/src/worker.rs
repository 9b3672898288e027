//! A worker: takes tasks of every tenant from the queues and drives them, several at a time; minds timers, such as those of cards
//! that nobody answers; and goes on with what others left behind when they died. Everything it does is found in the store, so that
//! any number of workers may come and go.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{Either, select, select_all};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use windlass_domain::{BoxFuture, CancelSignal, Stop, TaskId, Tenant, TraceId};
use windlass_store::Topic;
use windlass_store::queue::{Consumer, Leased, TakenOver};

use crate::Error;
use crate::dispatch::{WORK_QUEUES, is_errand, is_look, is_news};
use crate::engine::Engine;
use crate::goals::goal_of;
use crate::watch::Watcher;

/// How often it looks for what no hint tells: silent owners, timers, lost hints. What expires is noticed within a second.
const LOOK_EVERY: Duration = Duration::from_millis(900);

/// Who watches a task that a worker drives.
pub type Watchers = Arc<dyn Fn(&Tenant, TaskId) -> Arc<dyn Watcher> + Send + Sync>;

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
    /// that to others at once.
    pub async fn work(&self, options: WorkerOptions, watchers: Watchers, stop: CancelSignal) -> Result<(), Error> {
        let shared = &self.shared;
        let mut consumers = Vec::new();
        let mut hints = Vec::new();
        for queue in WORK_QUEUES {
            consumers.push(shared.consumer(queue).await?);
            hints.push(shared.store.notifier().subscribe(Topic::Queue { queue: queue.name().to_owned() }));
        }
        let mut driving: FuturesUnordered<Driving> = FuturesUnordered::new();
        let seats = Seats::default();
        Box::pin(self.fire_overslept()).await?;
        let mut trouble = Ok(());
        loop {
            // In trouble it takes nothing new; what it has begun is not dropped in the middle.
            if trouble.is_ok() && stop.raised().is_none() {
                let room = options.concurrency.saturating_sub(driving.len());
                let mut taken = Vec::new();
                let at_work = driving.len();
                trouble =
                    alongside(&mut driving, self.look(&mut consumers, (room, options.per_tenant), &seats, &mut taken))
                        .await;
                let took_all_it_could = taken.len() == room;
                let has_one_ended = driving.len() < at_work;
                driving.extend(taken.into_iter().map(|(leased, seat)| self.drive_for(leased, seat, &watchers)));
                // Something ended while it looked: there may be more than it had room for, and more than it saw.
                let is_anything_left = (took_all_it_could && driving.len() < options.concurrency) || has_one_ended;
                if trouble.is_ok() && is_anything_left {
                    continue;
                }
            }
            // Others see that this process lives, and leave to it what it holds.
            if let (true, Some(why)) = (trouble.is_ok(), shared.kept()) {
                trouble = Err(Error::Kept(why));
            }
            let is_done = trouble.is_err() || stop.raised().is_some() || options.until == Until::Idle;
            if driving.is_empty() && is_done {
                return trouble;
            }
            if stop.raised() > Some(Stop::Pause) {
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
        let watchers = Arc::clone(watchers);
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
            let driven = engine.drive_leased(task, Some(leased), Arc::clone(&watcher)).await.map(drop);
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
        let troubles: Vec<Error> = [done, sealed].into_iter().filter_map(Result::err).filter(is_trouble).collect();
        if !troubles.is_empty() {
            let watcher = watcher();
            troubles.iter().for_each(|error| watcher.trouble(&error.to_string()));
        }
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
