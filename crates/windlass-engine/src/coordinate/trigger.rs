//! The one door for what reaches a session from outside (seed 000 §3.6). Whoever delivers it may deliver it again: it is heeded once, and
//! the second time it is said to have been. Nothing here asks a model; what a user says to nobody in particular is left to a turn.

use windlass_domain::coordinate::{Steering, Trigger, Triggered};
use windlass_domain::execution::{AgentInjection, InjectionType};
use windlass_domain::task::{Control, Wish};
use windlass_domain::{CallerName, Seq, SessionId, Taint, TaskId};
use windlass_policy::approve::OwnerKey;
use windlass_store::{Commit, Error as StoreError};

use super::telling::{Audience, Told};
use super::{Mandate, Opening};
use crate::Error;
use crate::approvals::Answered;
use crate::asked::Asked;
use crate::attempt::task_stream;
use crate::engine::Engine;
use crate::host::Rider;
use crate::questions::{Message, Sent};
use crate::submit::{Dispatch, Submission};
use crate::turns::{Accepted, Saying};

/// Others may write to the same streams meanwhile; nobody does so for long.
const TRIES: usize = 16;

/// What a door may use for what comes in by it.
#[derive(Clone, Copy, Default)]
pub struct Means<'a> {
    /// What turns, and the tasks they begin, are carried out with. Without it no user is heard.
    pub template: Option<&'a Submission>,
    /// Signs a yes. Without it no card is answered by this door.
    pub key: Option<&'a OwnerKey>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heeded {
    /// It was heeded when it came the first time.
    Before,
    /// It is kept, and has its turn.
    Said(Accepted),
    /// It answers a question, or is heard as what a user says.
    Sent(TaskId, Sent),
    /// It answers a card.
    Decided(Answered),
    /// Whoever works on these tasks hears it before the next question to the model.
    Told(Vec<TaskId>),
    Steered(TaskId, Steering),
}

/// What a commit of its own is made for.
pub(super) enum Deed<'a> {
    LetGoOn(TaskId, &'a str),
    Tell(&'a Audience, &'a Told<'a>),
    Inject(TaskId, &'a AgentInjection, (&'a str, Taint)),
}

impl Engine {
    pub async fn trigger(&self, trigger: &Trigger, means: Means<'_>) -> Result<Heeded, Error> {
        let session = self.session_meant(trigger).await?;
        let _one_after_the_other = self.shared.turnstiles.pass(session).await;
        let mandate = Mandate::of(trigger, session);
        if self.is_heeded(&mandate).await? {
            return Ok(Heeded::Before);
        }
        match Box::pin(self.heed(trigger, session, &mandate, means)).await {
            // Another process was faster with the same thing.
            Err(_) if self.is_heeded(&mandate).await? => Ok(Heeded::Before),
            heeded => heeded,
        }
    }

    async fn is_heeded(&self, mandate: &Mandate) -> Result<bool, Error> {
        let Some(marker) = mandate.once().pop() else { return Ok(false) };
        Ok(self.shared.store.is_marked(&self.shared.tenant, &marker).await?)
    }

    async fn session_meant(&self, trigger: &Trigger) -> Result<SessionId, Error> {
        if let Some(named) = &trigger.session_id {
            return Ok(SessionId::called(&self.shared.tenant, named));
        }
        let task = match &trigger.what {
            Triggered::UserMessage { task_id: Some(task), .. }
            | Triggered::ExternalEvent { task_id: Some(task), .. }
            | Triggered::TaskControl { task_id: task, .. }
            | Triggered::Scheduled { task_id: task, .. }
            | Triggered::Injected { task_id: task, .. } => self.task_called(task),
            Triggered::HitlResponse { request_id, .. } => self.asker(request_id).await?,
            Triggered::UserMessage { .. } | Triggered::ExternalEvent { .. } => {
                return Err(Error::NothingUnderWay("that is not named".to_owned()));
            }
        };
        self.session_of(task).await
    }

    pub(super) async fn session_of(&self, task: TaskId) -> Result<SessionId, Error> {
        let state = self.task(task).await?;
        state.created.map(|created| created.command.session_id).ok_or(Error::NoSuchTask(task))
    }

    /// Whether there is a task that its caller calls so, over or not.
    pub async fn has_task(&self, name: &CallerName) -> Result<bool, Error> {
        let stream = task_stream(self.task_called(name));
        Ok(self.shared.store.head(&self.shared.tenant, &stream).await? > Seq(0))
    }

    pub(super) fn task_called(&self, name: &CallerName) -> TaskId {
        TaskId::called(&self.shared.tenant, name)
    }

    async fn heed(
        &self,
        trigger: &Trigger,
        session: SessionId,
        mandate: &Mandate,
        means: Means<'_>,
    ) -> Result<Heeded, Error> {
        let Trigger { origin, what, .. } = trigger;
        match what {
            Triggered::UserMessage { words, task_id: None } => {
                let template = means.template.ok_or(Error::NobodyListens)?.clone();
                let called = trigger.session_id.clone();
                let opening = Opening { called, ..Opening::by(origin) };
                let saying = Saying { session: Some(session), words: words.clone(), template };
                let said = Box::pin(self.say_as(saying, Dispatch::ToWorkers, &opening, mandate)).await?;
                Ok(Heeded::Said(said))
            }
            Triggered::UserMessage { words, task_id: Some(task) } => {
                let task = self.task_called(task);
                let message = Message { text: words.clone(), question: None, by: origin.by.clone() };
                Ok(Heeded::Sent(task, self.send_as(origin.taint, task, &message, mandate).await?))
            }
            Triggered::HitlResponse { request_id, response } => {
                self.heed_response((request_id, response), origin, mandate, means.key).await
            }
            Triggered::ExternalEvent { payload, task_id } => {
                let called = || trigger.session_id.as_ref().map_or_else(|| session.to_string(), ToString::to_string);
                let audience = match task_id {
                    Some(task) => Audience::Task(self.task_called(task)),
                    None => Audience::Conversation { session, called: called() },
                };
                let told = AgentInjection::event_received(payload);
                // Whoever forwarded it may be known; what it says is somebody else's.
                self.tell_those_at_work(audience, &told, Taint::External, mandate).await
            }
            Triggered::Scheduled { task_id, prompt } => {
                let told = AgentInjection::scheduled(prompt);
                self.tell_those_at_work(Audience::Task(self.task_called(task_id)), &told, origin.taint, mandate).await
            }
            Triggered::Injected { task_id, injection } => {
                let taint = match injection.injection_type {
                    InjectionType::ExternalEvent => Taint::External,
                    _ => origin.taint,
                };
                let deed = Deed::Inject(self.task_called(task_id), injection, (&origin.by, taint));
                Ok(Heeded::Told(self.in_a_commit(mandate, &deed).await?))
            }
            Triggered::TaskControl { task_id, steering, reason } => {
                let task = self.task_called(task_id);
                self.steer(task, *steering, reason, mandate).await?;
                Ok(Heeded::Steered(task, *steering))
            }
        }
    }

    async fn steer(&self, task: TaskId, steering: Steering, reason: &str, mandate: &Mandate) -> Result<(), Error> {
        let wish = || Wish { reason: reason.to_owned() };
        let control = match steering {
            Steering::Pause => Control::Pause(wish()),
            Steering::Cancel => Control::Cancel(wish()),
            Steering::Resume => return self.in_a_commit(mandate, &Deed::LetGoOn(task, reason)).await.map(drop),
        };
        self.tell(task, control, Taint::Auth, mandate).await
    }

    /// Commits what the deed adds, anew for as long as others write first; for whom it was.
    pub(super) async fn in_a_commit(&self, mandate: &Mandate, deed: &Deed<'_>) -> Result<Vec<TaskId>, Error> {
        let shared = &self.shared;
        let mut tries = 0;
        loop {
            tries += 1;
            let mut rider = mandate.rider(self).await?;
            let tasks = match deed {
                Deed::LetGoOn(task, why) => self.let_go_on(&mut rider, *task).await.map(|()| {
                    rider.events.extend(shared.asked(*task, Asked::Resume(why), mandate.asker()));
                    vec![*task]
                }),
                Deed::Tell(audience, told) => self.tell_audience(&mut rider, audience, told).await,
                Deed::Inject(task, injection, from) => {
                    self.add_injection(&mut rider, *task, injection, *from).await.map(|()| vec![*task])
                }
            };
            let tasks = match tasks {
                // Somebody else has answered the question meanwhile.
                Err(Error::Store(StoreError::Conflict { .. }) | Error::Question(_)) if tries < TRIES => continue,
                tasks => tasks?,
            };
            let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
            rider.ride(&mut commit);
            match shared.commit(commit).await {
                Err(StoreError::Conflict { .. } | StoreError::Gone { .. }) if tries < TRIES => {}
                committed => return Ok(committed.map(|_| tasks)?),
            }
        }
    }

    async fn let_go_on(&self, rider: &mut Rider, task: TaskId) -> Result<(), Error> {
        if self.task(task).await?.is_over() {
            return Err(Error::Over(task));
        }
        match self.is_sent_for(task).await? {
            true => Ok(()),
            false => self.go_on_with(rider, task).await,
        }
    }
}
