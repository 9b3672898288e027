//! The door to driving: take the lease, listen to the mailbox, perform moves until there are none, give the lease back.

use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use windlass_domain::task::Deadline;
use windlass_domain::{Canceller, Stop, TaskId, TaskResult};
use windlass_store::queue::{Error as QueueError, Leased};
use windlass_store::{Delivery, Error as StoreError, Fence, Subscription};

use super::driver::Driver;
use super::registration::Registration;
use crate::Error;
use crate::control::{Inbox, hear, is_asked_to_stop, listen, subscribe};
use crate::engine::Engine;
use crate::graph::{GraphDriver, Resting};
use crate::lease::{give_back, take_task};
use crate::watch::Watcher;

/// How driving ended. Each has a result; only one of them is final.
#[derive(Debug, Clone, PartialEq)]
pub enum Driven {
    Finished(TaskResult),
    Paused(TaskResult),
    /// Parked: a person is asked, and nobody works on it until there is an answer.
    Waiting(TaskResult),
}

impl Driven {
    pub fn result(&self) -> &TaskResult {
        match self {
            Self::Finished(result) | Self::Paused(result) | Self::Waiting(result) => result,
        }
    }
}

/// What a task is driven for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// It goes on, though it rests.
    GoOn,
    /// It does what it was asked to. One that has done so and rests is left alone: nobody said that it goes on.
    Heed,
}

/// How a task is found by who would drive it.
enum Entrance {
    Over(Box<TaskResult>),
    /// With all who work for it.
    Planned,
    Open(Box<Option<Leased>>),
}

/// What there is to drive.
enum Ready {
    Over(Box<TaskResult>),
    Planned(Box<GraphDriver>),
    Direct(Box<Driver>),
}

impl Engine {
    /// Works on a task until it ends or is paused. A task that has ended gives its result again and does nothing.
    pub async fn drive(&self, task: TaskId, watcher: Arc<dyn Watcher>) -> Result<Driven, Error> {
        self.drive_with_aim(task, Aim::GoOn, watcher).await
    }

    /// The same for whoever has asked it to rest or to end, where nobody else works on it. `LeaseLost` where somebody does, or has
    /// heeded it already.
    pub async fn drive_to_heed(&self, task: TaskId, watcher: Arc<dyn Watcher>) -> Result<Driven, Error> {
        self.drive_with_aim(task, Aim::Heed, watcher).await
    }

    async fn drive_with_aim(&self, task: TaskId, aim: Aim, watcher: Arc<dyn Watcher>) -> Result<Driven, Error> {
        let mut has_waited = false;
        loop {
            let leased = match Box::pin(self.enter(task, aim)).await? {
                Entrance::Over(result) => return Ok(Driven::Finished(*result)),
                Entrance::Planned => return Box::pin(self.drive_family(task, aim, watcher)).await,
                Entrance::Open(leased) => *leased,
            };
            let driven = match leased {
                Some(leased) => self.drive_leased(task, leased, Arc::clone(&watcher)).await,
                None => self.drive_with(task, None, aim, Arc::clone(&watcher)).await,
            };
            match driven {
                Ok(Driven::Waiting(result)) if !Box::pin(self.waits_by_itself(task)).await? => {
                    return Ok(Driven::Waiting(result));
                }
                Ok(Driven::Waiting(_)) => {}
                // A worker took it while nobody worked on it here.
                Err(Error::HeldElsewhere { .. } | Error::LeaseLost(_)) if has_waited => {}
                driven => return driven,
            }
            has_waited = true;
            if let Some(rests) = Box::pin(self.until_its_next_look(task)).await? {
                return Ok(rests);
            }
        }
    }

    async fn enter(&self, task: TaskId, aim: Aim) -> Result<Entrance, Error> {
        let state = self.task(task).await?;
        if let Some(result) = state.result {
            return Ok(Entrance::Over(Box::new(result)));
        }
        let created = state.created.ok_or(Error::NoSuchTask(task))?;
        if let Some(place) = self.shared.process.elsewhere(created.placement.as_deref()) {
            return Err(Error::Elsewhere { task, place: place.to_owned() });
        }
        if created.planned {
            return Ok(Entrance::Planned);
        }
        Ok(Entrance::Open(Box::new(self.claim(&created, aim).await?)))
    }

    /// The same for whoever has the task's message in hand already.
    pub(crate) async fn drive_leased(
        &self,
        task: TaskId,
        leased: Leased,
        watcher: Arc<dyn Watcher>,
    ) -> Result<Driven, Error> {
        let leased = Box::new(leased);
        let driven = self.drive_with(task, Some(&leased), Aim::GoOn, watcher).await;
        match &driven {
            Ok(_) => self.shared.desk().tell_acked(&leased),
            Err(error) => Box::pin(self.put_back(&leased, error)).await,
        }
        driven
    }

    async fn drive_with(
        &self,
        task: TaskId,
        leased: Option<&Leased>,
        aim: Aim,
        watcher: Arc<dyn Watcher>,
    ) -> Result<Driven, Error> {
        Box::pin(self.sweep_worktrees_once()).await?;
        let fence = take_task(&self.shared, task).await?;
        Box::pin(self.after_whoever_lost_it(task)).await;
        let delivery = leased.map(|leased| leased.delivery);
        let driven = match self.still_has(task, leased, aim).await {
            Ok(()) => self.drive_under(task, &fence, delivery, watcher).await,
            Err(error) => Err(error),
        };
        match driven {
            Err(Error::Overtaken(_)) if !self.holds(&fence).await? => Err(Error::LeaseLost(task)),
            // Whoever works on what another has finished meanwhile finds a journal that its rules do not allow.
            Err(Error::Broken { .. }) if !self.holds(&fence).await? => Err(Error::LeaseLost(task)),
            // What went wrong first is what a caller should hear. A lease that is called lost is given back as well: when only
            // the message is another's, it is still ours, and nobody takes it from the living.
            Err(_) => {
                let _first_error_stands = give_back(&self.shared, fence).await;
                driven
            }
            Ok(_) => give_back(&self.shared, fence).await.and(driven),
        }
    }

    /// Whoever waited for the lease may have slept meanwhile: what its message asked for has then been done by another, and the
    /// task may rest by now.
    async fn still_has(&self, task: TaskId, leased: Option<&Leased>, aim: Aim) -> Result<(), Error> {
        let Some(leased) = leased else {
            let is_to_be_done = aim == Aim::GoOn || is_asked_to_stop(&self.shared, task).await?;
            return if is_to_be_done { Ok(()) } else { Err(Error::LeaseLost(task)) };
        };
        match self.shared.desk().heartbeat(&mut leased.clone()).await {
            Err(QueueError::Store(StoreError::StaleDelivery { .. })) => Err(Error::LeaseLost(task)),
            heard => Ok(heard?),
        }
    }

    async fn drive_under(
        &self,
        task: TaskId,
        fence: &Fence,
        delivery: Option<Delivery>,
        watcher: Arc<dyn Watcher>,
    ) -> Result<Driven, Error> {
        let canceller = Canceller::default();
        if self.shared.process.stands_in_for().is_some() {
            // It is here to end it.
            canceller.stop(Stop::Cancel);
        }
        let _registered = Registration::new(&self.shared, task, canceller.clone());
        let deadline = Box::pin(self.due_deadline(task)).await?;
        let inbox = Inbox::default();
        let hints = subscribe(&self.shared, task);
        match Box::pin(self.ready(task, fence, delivery, watcher, (&inbox, &canceller))).await? {
            Ready::Over(result) => Ok(Driven::Finished(*result)),
            Ready::Planned(pass) => Box::pin(self.pass_over(*pass, hints)).await,
            Ready::Direct(mut driver) => {
                let driving = pin!(driver.drive());
                let listening = pin!(listen(&self.shared, task, hints, &inbox, &canceller));
                // Boxed, so that those without a deadline do not make room for it.
                let minding = Box::pin(self.mind_deadline(task, deadline));
                match select(driving, select(listening, minding)).await {
                    Either::Left((driven, _)) => driven,
                    Either::Right((Either::Left((never, _)) | Either::Right((never, _)), _)) => match never {},
                }
            }
        }
    }

    /// What has come while nobody worked on it is heard before anything is done.
    async fn due_deadline(&self, task: TaskId) -> Result<Option<Deadline>, Error> {
        let deadline = self.task(task).await?.deadline();
        if deadline.is_some_and(|deadline| deadline.at <= self.shared.wall()) {
            self.fire_deadline(task).await?;
        }
        Ok(deadline)
    }

    /// What leads up to driving, which is over when it begins: a thousand agents whose models answer hold none of it.
    async fn ready(
        &self,
        task: TaskId,
        fence: &Fence,
        delivery: Option<Delivery>,
        watcher: Arc<dyn Watcher>,
        (inbox, canceller): (&Inbox, &Canceller),
    ) -> Result<Ready, Error> {
        // What was asked before anybody listened is heeded before anything is done.
        hear(&self.shared, task, inbox, canceller).await?;
        let journal = self.task_journal(task).await?;
        // Whoever held the lease before may have ended it since we looked.
        if let Some(result) = journal.state.result.clone() {
            self.take_out(delivery).await?;
            return Ok(Ready::Over(Box::new(result)));
        }
        watcher.begins(task, &journal.state);
        let (engine, fence, canceller, inbox) = (self.clone(), fence.clone(), canceller.clone(), inbox.clone());
        if journal.state.created.as_ref().is_some_and(|created| created.planned) {
            let Resting { graph, history } = Box::pin(self.graph_to_drive(task)).await?;
            let pass =
                GraphDriver { engine, task, fence, delivery, graph, history, journal, canceller, inbox, watcher };
            return Ok(Ready::Planned(Box::new(pass)));
        }
        Ok(Ready::Direct(Box::new(Driver {
            engine,
            task,
            fence,
            delivery,
            journal,
            canceller,
            inbox,
            watcher,
            begun: None,
            has_trace: false,
            screenshots: Vec::new(),
            is_running_it: false,
        })))
    }

    async fn pass_over(&self, mut pass: GraphDriver, hints: Subscription) -> Result<Driven, Error> {
        let (inbox, canceller) = (pass.inbox.clone(), pass.canceller.clone());
        let listening = pin!(listen(&self.shared, pass.task, hints, &inbox, &canceller));
        match select(pin!(pass.drive()), listening).await {
            Either::Left((driven, _)) => driven,
            Either::Right((never, _)) => match never {},
        }
    }

    pub(super) async fn holds(&self, fence: &Fence) -> Result<bool, Error> {
        let lease = self.shared.store.lease(&self.shared.tenant, &fence.lease).await?;
        let holder = lease.and_then(|lease| Some((lease.epoch, lease.holder?.id)));
        Ok(holder == Some((fence.epoch, fence.owner)))
    }
}
