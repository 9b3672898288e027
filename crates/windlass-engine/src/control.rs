//! What reaches a running task from outside: a wish to stop raises its signal, an injection waits for the next question
//! to the model. Both are durable messages in the task's mailbox, and are acknowledged in the commit that heeds them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use windlass_domain::execution::{AgentInjection, InjectionReceived, InjectionType, MessageKind};
use windlass_domain::task::{Control, TaskAction, TimeUp, Wish, has_a_hearer};
use windlass_domain::{Canceller, MessageId, Stop, Taint, TaskId};
use windlass_policy::gate::Trigger;
use windlass_store::{Commit, NewMessage, StoredMessage, Subscription, Topic};

use crate::Error;
use crate::approvals::trace_of;
use crate::asked::Asked as AskedFor;
use crate::coordinate::Mandate;
use crate::engine::{Engine, Shared};
use crate::gates::gates_of;
use crate::host::{Held, Rider, pass_words};
use crate::redacted::redacted;

/// How long a lost hint can go unnoticed.
const LOOK_ANYWAY: Duration = Duration::from_secs(5);
const PAGE: usize = 100;
/// Before everything that can wait.
const FIRST: i32 = 100;
/// Whoever drives may write to the task's stream meanwhile; nobody does so for long.
const TRIES: usize = 16;

/// Why a task is paused, where nobody said why.
pub const PAUSED: &str = "paused by the user";
/// Why a part is, where something else than a user paused the whole: that says why.
pub const PAUSED_WITH_PLAN: &str = "paused with its plan";

/// What has arrived for one task and is not yet in its journal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inbox {
    waiting: Arc<Mutex<Waiting>>,
}

/// Something for the agent to hear. One that came as a message is acknowledged when it is heard.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub received: InjectionReceived,
    pub is_message: bool,
}

#[derive(Debug, Default)]
struct Waiting {
    seen: BTreeSet<MessageId>,
    injections: Vec<Arrived>,
    stops: Vec<Asked>,
    /// Who waits for something to be said.
    listeners: Vec<Waker>,
}

impl Waiting {
    fn say(&mut self, arrived: Arrived) {
        self.injections.push(arrived);
        self.listeners.drain(..).for_each(Waker::wake);
    }
}

/// A wish to stop that is not heeded yet.
#[derive(Debug)]
struct Asked {
    message: MessageId,
    stop: Stop,
    reason: String,
    how: How,
}

/// Who wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Person,
    /// A person who says when it goes on.
    Stop,
    /// One of its limits.
    TimeUp(TimeUp),
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The injections that have arrived, in order.
    pub fn take(&self) -> Vec<Arrived> {
        std::mem::take(&mut self.lock().injections)
    }

    /// The same of one kind alone.
    pub fn take_kind(&self, kind: MessageKind) -> Vec<Arrived> {
        let mut waiting = self.lock();
        let all = std::mem::take(&mut waiting.injections);
        let (taken, left) = all.into_iter().partition(|arrived| arrived.received.injection.kind() == kind);
        waiting.injections = left;
        taken
    }

    /// Returns once there is an injection.
    pub fn arrived(&self) -> impl Future<Output = ()> {
        std::future::poll_fn(|context| {
            let mut waiting = self.lock();
            if !waiting.injections.is_empty() {
                return Poll::Ready(());
            }
            waiting.listeners.push(context.waker().clone());
            Poll::Pending
        })
    }

    /// The messages that are heeded by stopping for `reason`: a cancelled task need not be paused any more. They stay until the
    /// commit that acknowledges them: one that is overtaken has to do so again.
    pub fn stops(&self, reason: Stop) -> Vec<MessageId> {
        let waiting = self.lock();
        waiting.stops.iter().filter(|asked| asked.stop <= reason).map(|asked| asked.message).collect()
    }

    /// How it is to be paused, in the words of whoever asked for it last. A stop is not undone by a pause.
    pub fn pause(&self) -> TaskAction {
        let waiting = self.lock();
        let pauses = || waiting.stops.iter().rev().filter(|asked| asked.stop == Stop::Pause);
        match pauses().find(|asked| asked.how == How::Stop).or_else(|| pauses().next()) {
            Some(asked) if asked.how == How::Stop => TaskAction::Stop { reason: asked.reason.clone() },
            Some(asked) => TaskAction::Pause { reason: asked.reason.clone() },
            None => TaskAction::Pause { reason: PAUSED.to_owned() },
        }
    }

    /// The limit that is up, where nobody else wants it stopped for good.
    pub fn time_up(&self, stop: Stop) -> Option<TimeUp> {
        if stop == Stop::Cancel && self.is_given_up() {
            return None;
        }
        self.lock().stops.iter().filter(|asked| asked.stop == stop).find_map(|asked| match asked.how {
            How::TimeUp(up) => Some(up),
            How::Person | How::Stop => None,
        })
    }

    /// Whether a person wants it to end.
    pub fn is_given_up(&self) -> bool {
        let is_given_up = |asked: &Asked| asked.stop == Stop::Cancel && !matches!(asked.how, How::TimeUp(_));
        self.lock().stops.iter().any(is_given_up)
    }

    /// The strongest reason to stop that nobody has heeded yet.
    pub fn reason(&self) -> Option<Stop> {
        self.lock().stops.iter().map(|asked| asked.stop).max()
    }

    /// Its message is gone with the commit that heeded it.
    pub fn heeded(&self, messages: &[MessageId]) {
        self.lock().stops.retain(|asked| !messages.contains(&asked.message));
    }

    /// The messages that were read and not yet heeded: whoever goes to sleep has read them.
    pub fn read(&self) -> Vec<MessageId> {
        self.lock().seen.iter().copied().collect()
    }

    /// What was taken and not written has not been heard: whatever still lies in the mailbox is read anew.
    pub fn forget(&self) {
        let mut waiting = self.lock();
        let listeners = std::mem::take(&mut waiting.listeners);
        *waiting = Waiting { listeners, ..Waiting::default() };
    }

    /// Something this process itself has to say to the agent.
    pub fn put(&self, received: InjectionReceived) {
        self.lock().say(Arrived { received, is_message: false });
    }
}

pub(crate) fn mailbox(task: TaskId) -> String {
    format!("task/{task}")
}

/// Hints about the task's mailbox. Whoever subscribes first and looks then misses nothing.
pub(crate) fn subscribe(shared: &Shared, task: TaskId) -> Subscription {
    let topic = Topic::Mailbox { tenant: shared.tenant.clone(), mailbox: mailbox(task) };
    shared.store.notifier().subscribe(topic)
}

/// Reads the mailbox whenever it may have changed, for as long as it is polled. A read that failed is tried again: nobody
/// may go deaf.
pub(crate) async fn listen(
    shared: &Shared,
    task: TaskId,
    mut hints: Subscription,
    inbox: &Inbox,
    canceller: &Canceller,
) -> std::convert::Infallible {
    loop {
        hints.changed(LOOK_ANYWAY).await;
        // Boxed, so that whoever only waits does not make room for it.
        let _tried_again_later = Box::pin(hear(shared, task, inbox, canceller)).await;
    }
}

/// Takes in what waits now.
pub(crate) async fn hear(shared: &Shared, task: TaskId, inbox: &Inbox, canceller: &Canceller) -> Result<(), Error> {
    for message in shared.store.mailbox(&shared.tenant, &mailbox(task), shared.wall(), PAGE).await? {
        if inbox.lock().seen.contains(&message.message_id) {
            continue;
        }
        // What this version cannot read stays where it is, for one that can.
        let passed = match Control::decode(&message.kind, message.version, &message.data) {
            Ok(control) => pass(shared, task, &message, control).await?,
            Err(_) => None,
        };
        // Two may listen at once, and one hears it.
        let is_new = inbox.lock().seen.insert(message.message_id);
        if let (true, Some(control)) = (is_new, passed) {
            heed(&message, control, inbox, canceller);
        }
    }
    Ok(())
}

/// The wishes to rest that nobody has heeded yet.
pub(crate) async fn pauses(shared: &Shared, task: TaskId) -> Result<Vec<MessageId>, Error> {
    wishes(shared, task, |control| matches!(control, Control::Pause(_) | Control::Stop(_))).await
}

/// Whether it was asked to rest or to end, and nobody has heeded it yet.
pub(crate) async fn is_asked_to_stop(shared: &Shared, task: TaskId) -> Result<bool, Error> {
    let wishes = wishes(shared, task, |control| !matches!(control, Control::Inject(_))).await?;
    Ok(!wishes.is_empty())
}

async fn wishes(shared: &Shared, task: TaskId, is_meant: impl Fn(&Control) -> bool) -> Result<Vec<MessageId>, Error> {
    let waiting = shared.store.mailbox(&shared.tenant, &mailbox(task), shared.wall(), PAGE).await?;
    let is_meant = |message: &&StoredMessage| {
        let control = Control::decode(&message.kind, message.version, &message.data);
        control.is_ok_and(|control| is_meant(&control))
    };
    Ok(waiting.iter().filter(is_meant).map(|message| message.message_id).collect())
}

/// A user's words pass the operator's gates, and those of the item, before the agent hears them. What is blocked is taken out, and in the audit.
async fn pass(
    shared: &Shared,
    task: TaskId,
    message: &StoredMessage,
    control: Control,
) -> Result<Option<Control>, Error> {
    let Control::Inject(injection) = control else { return Ok(Some(control)) };
    if !matches!(injection.injection_type, InjectionType::UserMessage | InjectionType::HitlResponse) {
        return Ok(Some(Control::Inject(injection)));
    }
    let words = injection.content.clone();
    let gates = gates_of(shared, task).await?;
    let held = Held::words(&gates);
    let passed = pass_words(shared, Trigger::EveryUserMessage, words, (task, message.taint), held).await;
    let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
    commit.events.extend(passed.audited);
    if passed.text.is_err() {
        commit.acks.push(message.message_id);
    }
    if !commit.events.is_empty() || !commit.acks.is_empty() {
        shared.commit(commit).await?;
    }
    Ok(passed.text.ok().map(|content| Control::Inject(AgentInjection { content, ..injection })))
}

fn heed(message: &StoredMessage, control: Control, inbox: &Inbox, canceller: &Canceller) {
    let StoredMessage { message_id, taint, .. } = *message;
    let stop = |stop, Wish { reason }, how| {
        inbox.lock().stops.push(Asked { message: message_id, stop, reason, how });
        canceller.stop(stop);
    };
    match control {
        Control::Cancel(wish) => stop(Stop::Cancel, wish, How::Person),
        Control::Pause(wish) => stop(Stop::Pause, wish, How::Person),
        Control::Stop(wish) => stop(Stop::Pause, wish, How::Stop),
        Control::TimeUp(up) => {
            let wanted = if up.action.ends() { Stop::Cancel } else { Stop::Pause };
            stop(wanted, Wish { reason: up.in_words() }, How::TimeUp(up));
        }
        Control::Inject(injection) => {
            let received = InjectionReceived { message_id, injection, taint };
            inbox.lock().say(Arrived { received, is_message: true });
        }
    }
}

impl Engine {
    /// Asks whoever drives the task to stop it for good. It has happened once the task says so.
    pub async fn ask_to_cancel(&self, task: TaskId, reason: impl Into<String>) -> Result<(), Error> {
        self.tell(task, Control::Cancel(Wish { reason: reason.into() }), Taint::Auth, &Mandate::own()).await
    }

    pub async fn ask_to_pause(&self, task: TaskId, reason: impl Into<String>) -> Result<(), Error> {
        self.tell(task, Control::Pause(Wish { reason: reason.into() }), Taint::Auth, &Mandate::own()).await
    }

    /// The same where nobody asks for it.
    pub(crate) async fn have_rest(&self, task: TaskId, reason: impl Into<String>) -> Result<(), Error> {
        self.tell(task, Control::Pause(Wish { reason: reason.into() }), Taint::Auth, &Mandate::runtime()).await
    }

    /// As a pause, until whoever asks for it says that it goes on.
    pub async fn ask_to_stop(&self, task: TaskId, reason: impl Into<String>) -> Result<(), Error> {
        self.tell(task, Control::Stop(Wish { reason: reason.into() }), Taint::Auth, &Mandate::own()).await
    }

    /// Queues something for the agent to hear before its next question to the model.
    pub async fn inject(&self, task: TaskId, injection: AgentInjection, taint: Taint) -> Result<(), Error> {
        self.tell(task, Control::Inject(injection), taint, &Mandate::own()).await
    }

    pub(crate) async fn tell(
        &self,
        task: TaskId,
        control: Control,
        taint: Taint,
        mandate: &Mandate,
    ) -> Result<(), Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_tell(task, control.clone(), taint, mandate).await {
                Err(Error::Store(windlass_store::Error::Conflict { .. })) if tries < TRIES => {}
                told => return told,
            }
        }
    }

    /// In the same commit a parked task is woken for a wish to stop, and one that rests for a wish to end. What an agent is
    /// to hear waits until it wakes: before its question is answered it could not listen. One that only watches something listens.
    async fn try_tell(&self, task: TaskId, control: Control, taint: Taint, mandate: &Mandate) -> Result<(), Error> {
        let journal = self.task_journal(task).await?;
        if journal.state.is_over() {
            return Err(Error::Over(task));
        }
        let shared = &self.shared;
        let wants_to_stop = !matches!(control, Control::Inject(_));
        let wants_to_end = matches!(control, Control::Cancel(_) | Control::TimeUp(_));
        let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
        mandate.rider(self).await?.ride(&mut commit);
        let asked = AskedFor::of(&control).and_then(|asked| shared.asked(task, asked, mandate.asker()));
        commit.events.extend(asked);
        if !wants_to_stop {
            if !has_a_hearer(&journal.state) {
                return Err(Error::TooLate(task));
            }
            // The task is where it was: whoever is told that it will be heard can rely on it.
            commit.expect.push((journal.stream.clone(), journal.head));
        }
        commit.messages.push(self.mail(task, control, taint)?);
        if wants_to_end {
            let mut rider = Rider::default();
            self.wake_to_end(&mut rider, task).await?;
            rider.ride(&mut commit);
        } else if wants_to_stop || journal.state.is_monitoring() {
            self.wake(&mut commit, task).await?;
        }
        shared.commit(commit).await?;
        Ok(())
    }

    /// A message for the task's mailbox.
    pub(crate) fn mail(&self, task: TaskId, control: Control, taint: Taint) -> Result<NewMessage, Error> {
        let shared = &self.shared;
        let (control, encoded) = redacted(control, &shared.redactor)?;
        Ok(NewMessage {
            message_id: MessageId::new(shared.wall(), shared.runtime.random()),
            queue: mailbox(task),
            subject: None,
            trace_id: trace_of(task),
            encoded,
            taint,
            priority: match control {
                Control::Cancel(_) | Control::Pause(_) | Control::Stop(_) | Control::TimeUp(_) => FIRST,
                Control::Inject(_) => 0,
            },
            not_before: None,
        })
    }

    /// Stops a task that this very process drives, without going through its mailbox: Ctrl-C.
    pub fn stop(&self, task: TaskId, reason: Stop) {
        // Whoever looks after all of a plan tells its parts.
        if let Some(canceller) = self.shared.lock_families().get(&task) {
            canceller.stop(reason);
            return;
        }
        if let Some(at_work) = self.shared.lock_driven().get(&task) {
            at_work.canceller.stop(reason);
        }
    }
}
