//! A planned task and all who work for it, in one process: for whoever waits at a terminal. What others take is theirs; it ends
//! when the task does, or when nobody can go on before a person has said something. Where something goes wrong with one of them, that is
//! said at once; the others end what they have begun, or stop when they are asked to, and nobody new is sent.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use windlass_domain::queue::Urgency;
use windlass_domain::task::TaskStatus;
use windlass_domain::{Awaited, BoxFuture, Canceller, HitlRequest, Stop, TaskId, TaskResultStatus};
use windlass_store::queue::Leased;
use windlass_store::{Subscription, Topic};

use crate::Error;
use crate::attempt::{Aim, Driven};
use crate::control::{PAUSED, pauses};
use crate::dispatch::{Claimed, Letter};
use crate::engine::Engine;
use crate::host::Rider;
use crate::watch::Watcher;

/// What no hint tells: timers, and others that died.
const LOOK_EVERY: Duration = Duration::from_millis(900);

type Driving = BoxFuture<'static, (TaskId, Result<Driven, Error>)>;

/// Where a member of the family stands.
enum Stands {
    /// Somebody can go on with it, here or elsewhere.
    AtWork,
    /// A person is asked.
    Asks,
    /// It rests until somebody says that it may go on.
    Paused,
}

/// Those who are at work in this process.
#[derive(Default)]
struct Crew {
    driving: FuturesUnordered<Driving>,
    busy: BTreeSet<TaskId>,
    /// Who came to rest, and is not heard yet.
    ended: Vec<(TaskId, Result<Driven, Error>)>,
}

impl Crew {
    fn send(&mut self, engine: &Engine, (member, leased): (TaskId, Leased), watcher: &Arc<dyn Watcher>) {
        self.busy.insert(member);
        let watcher = watcher.for_part(member).unwrap_or_else(|| Arc::clone(watcher));
        let engine = engine.clone();
        self.driving.push(Box::pin(async move { (member, engine.drive_leased(member, leased, watcher).await) }));
    }

    /// Does `work` while they go on: one of them may hold what `work` waits for.
    async fn alongside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        while !self.driving.is_empty() {
            match select(work.as_mut(), self.driving.next()).await {
                Either::Left((done, _)) => return done,
                Either::Right((ended, _)) => self.ended.extend(ended),
            }
        }
        work.await
    }

    /// Until somebody comes to rest, or something else happens.
    async fn wait(&mut self, hint: impl Future<Output = ()>) {
        if self.driving.is_empty() {
            return hint.await;
        }
        if let Either::Left((ended, _)) = select(self.driving.next(), pin!(hint)).await {
            self.ended.extend(ended);
        }
    }

    /// What became of `root`, where it is one of those who came to rest.
    fn hear(&mut self, root: TaskId) -> Result<Option<Driven>, Error> {
        let mut newest = None;
        for (member, driven) in self.ended.drain(..) {
            self.busy.remove(&member);
            match driven {
                // Somebody else works on it, or will.
                Err(Error::LeaseLost(_) | Error::HeldElsewhere { .. }) => {}
                Err(error) => return Err(error),
                Ok(driven) if member == root => newest = Some(driven),
                Ok(_) => {}
            }
        }
        Ok(newest)
    }

    /// What has begun here is not dropped in the middle.
    async fn all_at_rest(&mut self) {
        while self.driving.next().await.is_some() {}
    }
}

/// Until something happens that those who are driven do not tell. What was heard is heard; a stronger word is looked for now and then.
async fn woken(hints: &mut Subscription, canceller: &Canceller, told: Option<Stop>) {
    let signal = canceller.signal();
    let stopped = async { if told.is_some() { std::future::pending().await } else { signal.wait().await } };
    let _whichever = select(pin!(hints.changed(LOOK_EVERY)), pin!(stopped)).await;
}

impl Engine {
    pub(crate) async fn drive_family(
        &self,
        root: TaskId,
        aim: Aim,
        watcher: Arc<dyn Watcher>,
    ) -> Result<Driven, Error> {
        let canceller = Canceller::default();
        self.shared.lock_families().insert(root, canceller.clone());
        let driven = Box::pin(self.drive_all((root, aim), watcher, &canceller)).await;
        self.shared.lock_families().remove(&root);
        let driven = driven?;
        self.hear_news_of(root).await?;
        self.with_all_that_was_used(root, driven).await
    }

    async fn drive_all(
        &self,
        (root, aim): (TaskId, Aim),
        watcher: Arc<dyn Watcher>,
        canceller: &Canceller,
    ) -> Result<Driven, Error> {
        let mut crew = Crew::default();
        let driven = Box::pin(self.drive_crew((root, aim), &watcher, canceller, &mut crew)).await;
        if let Err(error) = &driven
            && !crew.driving.is_empty()
        {
            watcher.trouble(&error.to_string());
            self.let_go(root, canceller, &mut crew).await;
        }
        driven
    }

    /// Until all of them are at rest: whoever is dropped in the middle keeps leases and messages that nobody takes from the living.
    async fn let_go(&self, root: TaskId, canceller: &Canceller, crew: &mut Crew) {
        let mut hints = self.shared.store.notifier().subscribe(Topic::Events { tenant: self.shared.tenant.clone() });
        let mut told = None;
        while !crew.driving.is_empty() {
            let stop = canceller.signal().raised();
            if stop != told {
                // The first error stands.
                let _heard = crew.alongside(self.tell_family(root, stop)).await;
                told = stop;
            }
            crew.wait(woken(&mut hints, canceller, told)).await;
        }
    }

    async fn drive_crew(
        &self,
        (root, aim): (TaskId, Aim),
        watcher: &Arc<dyn Watcher>,
        canceller: &Canceller,
        crew: &mut Crew,
    ) -> Result<Driven, Error> {
        let mut told = None;
        let mut hints = self.shared.store.notifier().subscribe(Topic::Events { tenant: self.shared.tenant.clone() });
        let state = self.task(root).await?;
        let created = state.created.ok_or(Error::NoSuchTask(root))?;
        let mut newest = match self.claim(&created, aim).await? {
            Some(leased) => Some(Box::pin(self.drive_leased(root, leased, Arc::clone(watcher))).await?),
            None => None,
        };
        loop {
            newest = crew.hear(root)?.or(newest);
            // Others may drive it too, and bring it to its end.
            if let Some(result) = crew.alongside(self.task(root)).await?.result {
                newest = Some(Driven::Finished(result));
            }
            if let Some(driven @ (Driven::Finished(_) | Driven::Paused(_))) = newest {
                crew.all_at_rest().await;
                return Ok(driven);
            }
            let stop = canceller.signal().raised();
            let busy = crew.busy.clone();
            // Those who are driven go on meanwhile: one of them may hold what this waits for.
            let looked = async {
                if stop != told {
                    self.tell_family(root, stop).await?;
                }
                self.take_free(root, &busy).await
            };
            let free = crew.alongside(looked).await?;
            told = stop;
            for (member, leased) in free {
                let of_part = (member != root).then(|| watcher.for_part(member)).flatten();
                crew.send(self, (member, leased), of_part.as_ref().unwrap_or(watcher));
            }
            if !crew.ended.is_empty() {
                continue;
            }
            if crew.driving.is_empty() && !self.can_anybody_go_on(root).await? {
                return Box::pin(self.nobody_goes_on(root, newest, Arc::clone(watcher))).await;
            }
            crew.wait(woken(&mut hints, canceller, told)).await;
        }
    }

    /// A wish to stop goes through the mailboxes like anybody's, so that it holds for those who are driven elsewhere too.
    async fn tell_family(&self, root: TaskId, stop: Option<Stop>) -> Result<(), Error> {
        match stop {
            None => Ok(()),
            Some(Stop::Pause) => self.ask_to_pause(root, PAUSED).await,
            Some(Stop::Cancel) => self.ask_to_cancel(root, "cancelled by the user").await,
            Some(Stop::LeaseLost) => {
                self.shared.stop_all(Stop::LeaseLost);
                Err(Error::LeaseLost(root))
            }
        }
    }

    /// Those of the family whom somebody should work on and nobody does, with their messages.
    async fn take_free(&self, root: TaskId, busy: &BTreeSet<TaskId>) -> Result<Vec<(TaskId, Leased)>, Error> {
        self.let_timers_fire().await?;
        let mut free: Vec<(TaskId, Leased)> = Vec::new();
        for member in self.members(root).await?.into_iter().filter(|member| !busy.contains(member)) {
            match self.claim_message(member).await {
                Ok(Claimed::Mine(leased)) => free.push((member, *leased)),
                Ok(Claimed::Anothers | Claimed::None) => {}
                Err(error) => {
                    for (_, leased) in &free {
                        self.put_back(leased, &error).await;
                    }
                    return Err(error);
                }
            }
        }
        Ok(free)
    }

    /// What a person is asked by the task and by all who work for it now, each with who asks.
    pub async fn asks(&self, root: TaskId) -> Result<Vec<(TaskId, Awaited)>, Error> {
        let about_the_whole = self.graph(root).await?.asks();
        let mut asks: Vec<_> = about_the_whole.into_iter().map(|card| (root, Awaited::Card(card))).collect();
        for member in self.members(root).await? {
            let waits_for = self.task(member).await?.waits_for;
            let of_people = waits_for.into_iter().filter(|about| about.is_of_people());
            asks.extend(of_people.map(|about| (member, about)));
        }
        Ok(asks)
    }

    /// The task itself, and all who work for it now, with those who work for them.
    pub async fn members(&self, root: TaskId) -> Result<Vec<TaskId>, Error> {
        let mut members = vec![root];
        let graph = self.graph(root).await?;
        members.extend(graph.running());
        members.extend(graph.leaving);
        let mut looked_at = 1;
        while let Some(member) = members.get(looked_at).copied() {
            looked_at += 1;
            members.extend(self.task(member).await?.open_parts());
        }
        Ok(members)
    }

    async fn can_anybody_go_on(&self, root: TaskId) -> Result<bool, Error> {
        for member in self.members(root).await?.into_iter().skip(1) {
            if matches!(self.stands(member).await?, Stands::AtWork) {
                return Ok(true);
            }
        }
        Ok(matches!(self.stands(root).await?, Stands::AtWork))
    }

    async fn stands(&self, task: TaskId) -> Result<Stands, Error> {
        let state = self.task(task).await?;
        if state.status == Some(TaskStatus::Paused) {
            // Whoever is sent to go on with it, or to end it, is at work though nothing of that is written yet.
            return Ok(if self.is_sent_for(task).await? { Stands::AtWork } else { Stands::Paused });
        }
        let is_planned = state.created.as_ref().is_some_and(|created| created.planned);
        // Its monitor goes on with it by itself.
        let is_asleep = match is_planned {
            true => self.graph(task).await?.parked,
            false => state.waits_for.iter().any(|about| about.monitor().is_none()),
        };
        Ok(if is_asleep || state.open_consult().is_some() { Stands::Asks } else { Stands::AtWork })
    }

    /// Where somebody rests, the whole does: whoever resumes it resumes them all.
    async fn nobody_goes_on(
        &self,
        root: TaskId,
        newest: Option<Driven>,
        watcher: Arc<dyn Watcher>,
    ) -> Result<Driven, Error> {
        let state = self.task(root).await?;
        // One that rests already would hear of it when it goes on, and rest again.
        if state.status == Some(TaskStatus::Paused)
            && let Some(result) = state.report(TaskResultStatus::Paused, false, None)
        {
            return Ok(Driven::Paused(result));
        }
        for member in self.members(root).await?.into_iter().skip(1) {
            if matches!(self.stands(member).await?, Stands::Paused) {
                let why = self.task(member).await?.rests_for.unwrap_or_default();
                self.have_rest(root, format!("a part of it is paused: {why}")).await?;
                let Claimed::Mine(leased) = self.claim_message(root).await? else { break };
                return self.drive_leased(root, *leased, watcher).await;
            }
        }
        let mut driven = newest.ok_or(Error::Overtaken(root))?;
        if let Driven::Waiting(result) = &mut driven
            && result.hitl_request.is_none()
        {
            result.hitl_request = self.asked_by(root).await?;
        }
        Ok(driven)
    }

    /// What the first of them asks a person.
    async fn asked_by(&self, root: TaskId) -> Result<Option<HitlRequest>, Error> {
        match self.asks(root).await?.first() {
            Some((_, awaited)) => self.hitl_request(*awaited).await,
            None => Ok(None),
        }
    }

    /// Those who rest go on, as part of what a commit carries. Who has not heard yet that it was to rest need not any more.
    pub(crate) async fn go_on_with(&self, rider: &mut Rider, task: TaskId) -> Result<(), Error> {
        let mut resting = vec![task];
        while let Some(task) = resting.pop() {
            let state = self.task(task).await?;
            resting.extend(state.open_parts());
            rider.acks.extend(pauses(&self.shared, task).await?);
            if let (Some(TaskStatus::Paused), Some(created)) = (state.status, &state.created) {
                self.post(rider, Letter::home(created, Urgency::NeedsAttention))?;
            }
        }
        Ok(())
    }
}
