//! Tasks in the queues: every task that somebody should work on has a message in one of them, and none that is parked, paused or
//! over needs one. Which queue it is says what kind of work it is (seed 001 §2.3): executors' and researchers', planners', or the
//! runtime's own, which is to look after a plan or to go on with what a planner had an answer for. Whoever has the message drives the
//! task, and the commit with which the driving ends takes it out. Who may write is decided by the task's lease; the message only says
//! that there is work. A goal that is to be looked at has such a message too.

use windlass_domain::graph::GraphAction;
use windlass_domain::queue::{
    ErrorCode, ErrorPayload, MessageKind, OriginAgent, QueueMessage, QueuePayload, Sender, Urgency,
};
use windlass_domain::task::{TaskCreated, TaskStatus};
use windlass_domain::{EventFamily as _, MessageId, Role, Taint, TaskId, TraceId};
use windlass_store::queue::{Consumer, Desk, Error as QueueError, Leased, Queue, enqueue, enqueue_taken, retry};
use windlass_store::{Commit, Delivery, DeliveryChange, Error as StoreError, Standing, StoredMessage};

use crate::Error;
use crate::approvals::trace_of;
use crate::attempt::{Aim, task_stream};
use crate::control::is_asked_to_stop;
use crate::engine::{Engine, Shared};
use crate::host::Rider;
use crate::process::owner;

/// What the message says; the task is in its headers.
const DRIVE: &str = "drive";
/// The same for a goal, whose number stands where a task's does.
const LOOK: &str = "look";

/// A task bears twenty interruptions before it fails; a message that came to nothing so often tells of something else.
const MAX_DELIVERIES: u32 = 40;

impl Shared {
    pub fn desk(&self) -> Desk<'_> {
        let desk = Desk::new(self.store.as_ref(), self.runtime.as_ref(), self.telemetry.as_ref());
        Desk { max_deliveries: MAX_DELIVERIES, ..desk }
    }

    /// One who takes tasks: those of this machine, and those that can be worked on anywhere.
    pub async fn consumer(&self, queue: Queue) -> Result<Consumer, Error> {
        Ok(Consumer::new(queue, owner(&self.house).await?).at(self.process.place()))
    }

    fn drive_message(&self, letter: Letter) -> QueueMessage {
        self.message(letter, DRIVE)
    }

    fn message(&self, letter: Letter, says: &str) -> QueueMessage {
        let Letter { task, trace, placement, errand } = letter;
        let now = self.wall();
        let id = MessageId::new(now, self.runtime.random());
        let whose = (self.tenant.clone(), Taint::Auth);
        let message = QueueMessage::new(id, trace, errand.from, whose, says, now);
        let message = QueueMessage { task_id: Some(task), placement, urgency: errand.urgency, ..message };
        match errand.late {
            None => message,
            Some(origin) => too_late(message, origin),
        }
    }
}

/// Where tasks are found, in the order in which they are looked for (seed 001 §7.1): what users wait for, what others do, then work, then plans.
pub(crate) const WORK_QUEUES: [Queue; 4] = [Queue::Proxy, Queue::Runtime, Queue::Executor, Queue::Planner];

/// What somebody is sent for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Errand {
    pub queue: Queue,
    pub from: (Sender, MessageKind),
    pub urgency: Urgency,
    /// Who did not answer in time, where that is the news.
    pub late: Option<OriginAgent>,
}

/// A message that has a task driven.
pub(crate) struct Letter {
    pub task: TaskId,
    pub trace: TraceId,
    pub placement: Option<String>,
    pub errand: Errand,
}

impl Errand {
    /// It is to be gone on with, for no other reason than that somebody can.
    fn home(created: &TaskCreated, urgency: Urgency) -> Self {
        let queue = match created.role {
            _ if created.planned => Queue::Runtime,
            Role::Proxy => Queue::Proxy,
            Role::Planner => Queue::Planner,
            _ => Queue::Executor,
        };
        Self { queue, from: (Sender::Runtime, MessageKind::SystemEvent), urgency, late: None }
    }
}

/// Seed 001 §4.8 and §5.2.3: what took too long may be asked again.
fn too_late(message: QueueMessage, origin_agent: OriginAgent) -> QueueMessage {
    let (error_code, retryable, attempt_number) = (ErrorCode::Timeout, true, 1);
    let detail = format!("the {origin_agent} did not answer in time");
    QueueMessage {
        error_code: Some(error_code),
        retryable: Some(retryable),
        origin_agent: Some(origin_agent),
        attempt_number: Some(attempt_number),
        payload: Some(QueuePayload::Error(ErrorPayload {
            error_code,
            retryable,
            origin_agent,
            attempt_number,
            detail,
        })),
        ..message
    }
}

/// Whether somebody is sent for by it: news of a task, and what gates say about it, stand in queues under the task's name too.
pub(crate) fn sends_somebody(message: &StoredMessage) -> bool {
    let read = QueueMessage::decode(&message.kind, message.version, &message.data);
    read.is_ok_and(|message| is_errand(&message))
}

/// Whoever takes it has to drive its task, or to look at its goal.
pub(crate) fn is_errand(message: &QueueMessage) -> bool {
    message.content == DRIVE || is_look(message)
}

/// Whoever takes it has to look at the goal that it names.
pub(crate) fn is_look(message: &QueueMessage) -> bool {
    message.content == LOOK
}

/// What the proxy is told, and nobody is sent for.
pub(crate) const fn is_news(kind: MessageKind) -> bool {
    matches!(kind, MessageKind::ExecutionStatusChange | MessageKind::PlanResult)
}

/// Whose a task's message is.
pub(crate) enum Claimed {
    Mine(Box<Leased>),
    Anothers,
    /// There is no message: nobody needs to work on it.
    None,
}

impl Letter {
    pub fn to(created: &TaskCreated, errand: Errand) -> Self {
        let task = created.command.task_id;
        let root = created.part_of.as_ref().map_or(task, |of| of.root);
        Self { task, trace: trace_of(root), placement: created.placement.clone(), errand }
    }

    pub fn home(created: &TaskCreated, urgency: Urgency) -> Self {
        Self::to(created, Errand::home(created, urgency))
    }
}

impl Engine {
    /// Puts a parked task back into the queue, in `commit`. Whether it is parked is looked at again by the commit itself: it
    /// expects the task to stand where it stood.
    pub(crate) async fn wake(&self, commit: &mut Commit, task: TaskId) -> Result<(), Error> {
        let mut rider = Rider::default();
        self.wake_for(&mut rider, task, None).await?;
        rider.ride(commit);
        Ok(())
    }

    /// The same, as part of what a commit carries, on an errand of its own where there is one.
    pub(crate) async fn wake_for(&self, rider: &mut Rider, task: TaskId, errand: Option<Errand>) -> Result<(), Error> {
        let journal = self.task_journal(task).await?;
        rider.expect.push((journal.stream.clone(), journal.head));
        let is_running = journal.state.status == Some(TaskStatus::Running);
        let Some(created) = journal.state.created.as_ref().filter(|_| is_running) else { return Ok(()) };
        let is_asleep = if created.planned { self.wake_graph(rider, task).await? } else { journal.state.is_parked() };
        if is_asleep {
            let errand = errand.unwrap_or_else(|| Errand::home(created, Urgency::NeedsAttention));
            self.post(rider, Letter::to(created, errand))?;
        }
        Ok(())
    }

    /// The same for one that is to end: it hears of it though it rests, for nobody would go on with it otherwise.
    pub(crate) async fn wake_to_end(&self, rider: &mut Rider, task: TaskId) -> Result<(), Error> {
        self.send_to_resting(rider, task).await?;
        self.wake_for(rider, task, None).await
    }

    /// Has one that rests gone on with, unless somebody is sent for it already. One that does not rest is left alone.
    pub(crate) async fn send_to_resting(&self, rider: &mut Rider, task: TaskId) -> Result<(), Error> {
        let journal = self.task_journal(task).await?;
        let rests = journal.state.status == Some(TaskStatus::Paused);
        let Some(created) = journal.state.created.as_ref().filter(|_| rests) else { return Ok(()) };
        rider.expect.push((journal.stream.clone(), journal.head));
        if !self.is_sent_for(task).await? {
            self.post(rider, Letter::home(created, Urgency::NeedsAttention))?;
        }
        Ok(())
    }

    /// Whether it was asleep.
    async fn wake_graph(&self, rider: &mut Rider, task: TaskId) -> Result<bool, Error> {
        let shared = &self.shared;
        let mut graph = self.graph_journal(task).await?;
        // Whoever writes to the graph beside this wakes it by that.
        if rider.expect.iter().any(|(stream, _)| *stream == graph.stream) {
            return Ok(graph.state.parked);
        }
        let wake = graph.state.parked;
        graph.ride(rider, wake.then_some(GraphAction::Wake), &shared.redactor, Taint::Auth, shared.wall())?;
        Ok(wake)
    }

    /// A message, as part of what a commit carries.
    pub(crate) fn post(&self, rider: &mut Rider, letter: Letter) -> Result<(), Error> {
        let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
        let queue = letter.errand.queue;
        enqueue(&mut commit, queue, &self.shared.drive_message(letter))?;
        rider.ride_with(commit);
        Ok(())
    }

    /// Commits, and has some worker drive the task.
    pub(crate) async fn queue_up(&self, mut commit: Commit, created: &TaskCreated) -> Result<(), Error> {
        let letter = Letter::home(created, Urgency::Informational);
        enqueue(&mut commit, letter.errand.queue, &self.shared.drive_message(letter))?;
        self.shared.commit(commit).await?;
        Ok(())
    }

    /// Commits, and has some worker look at a goal.
    pub(crate) async fn send_to_goal(&self, mut commit: Commit, template: &TaskCreated) -> Result<(), Error> {
        let letter = Letter::home(template, Urgency::Informational);
        enqueue(&mut commit, letter.errand.queue, &self.shared.message(letter, LOOK))?;
        self.shared.commit(commit).await?;
        Ok(())
    }

    /// The same, with the message in this process's hands.
    pub(crate) async fn go_to_goal(&self, commit: Commit, template: &TaskCreated) -> Result<Leased, Error> {
        let letter = Letter::home(template, Urgency::Informational);
        let queue = letter.errand.queue;
        self.commit_taken(commit, queue, self.shared.message(letter, LOOK)).await
    }

    /// Commits, with the task's message in this process's hands.
    pub(crate) async fn queue_up_taken(&self, commit: Commit, created: &TaskCreated) -> Result<Leased, Error> {
        let letter = Letter::home(created, Urgency::Informational);
        let queue = letter.errand.queue;
        self.commit_taken(commit, queue, self.shared.drive_message(letter)).await
    }

    async fn commit_taken(&self, mut commit: Commit, queue: Queue, message: QueueMessage) -> Result<Leased, Error> {
        let owner = owner(&self.shared.house).await?;
        let delivery = enqueue_taken(&mut commit, queue, &message, owner)?;
        self.shared.commit(commit).await?;
        Ok(self.shared.desk().taken(queue, message, delivery))
    }

    /// The task's message for this process, made anew where there is none and it is to go on. `None`: somebody else has it.
    pub(crate) async fn claim(&self, created: &TaskCreated, aim: Aim) -> Result<Option<Leased>, Error> {
        let task = created.command.task_id;
        match self.claim_message(task).await? {
            Claimed::Mine(leased) => Ok(Some(*leased)),
            Claimed::Anothers => Ok(None),
            // Whoever had its message has heeded it: that is one commit.
            Claimed::None if aim == Aim::Heed && !is_asked_to_stop(&self.shared, task).await? => {
                Err(Error::LeaseLost(task))
            }
            Claimed::None => {
                let commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
                self.queue_up_taken(commit, created).await.map(Some)
            }
        }
    }

    /// The task's message for this process, where there is one.
    pub(crate) async fn claim_message(&self, task: TaskId) -> Result<Claimed, Error> {
        let shared = &self.shared;
        if let Some(leased) = shared.lock_in_hand().remove(&task) {
            return Ok(Claimed::Mine(Box::new(leased)));
        }
        let Some((queue, message)) = self.sent_for(task).await? else { return Ok(Claimed::None) };
        let mut consumer = shared.consumer(queue).await?;
        let mut witness = shared.process.witness.lock().await;
        let leased = shared.desk().claim(&mut consumer, &mut witness, &shared.tenant, message).await?;
        Ok(leased.map_or(Claimed::Anothers, |leased| Claimed::Mine(Box::new(leased))))
    }

    /// Whether there is a message that sends somebody, whoever has it.
    pub(crate) async fn is_sent_for(&self, task: TaskId) -> Result<bool, Error> {
        Ok(self.sent_for(task).await?.is_some())
    }

    /// The message that sends somebody. It is asked for by name: one that was given up has all its tries again.
    async fn sent_for(&self, task: TaskId) -> Result<Option<(Queue, MessageId)>, Error> {
        let shared = &self.shared;
        let Some((queue, message)) = self.letter(task).await? else { return Ok(None) };
        if matches!(message.standing, Standing::Dead { .. }) {
            match retry(shared.store.as_ref(), &shared.tenant, message.message_id, shared.wall()).await {
                // Another has done it since it was looked at, or has dealt with it altogether.
                Ok(()) | Err(QueueError::Store(StoreError::Gone { .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some((queue, message.message_id)))
    }

    /// The same, as it is.
    pub(crate) async fn letter(&self, task: TaskId) -> Result<Option<(Queue, StoredMessage)>, Error> {
        let shared = &self.shared;
        for queue in WORK_QUEUES {
            let found = shared.store.about(&shared.tenant, queue.name(), &task_stream(task)).await?;
            if let Some(message) = found.into_iter().find(sends_somebody) {
                return Ok(Some((queue, message)));
            }
        }
        Ok(None)
    }

    /// A message for work that came to nothing here: another try, later. One that is not ours any more is another's to mind.
    pub(crate) async fn put_back(&self, leased: &Leased, error: &Error) {
        match self.shared.desk().nack(leased, &error.to_string()).await {
            Ok(_) | Err(QueueError::Store(StoreError::StaleDelivery { .. })) => {}
            Err(refused) => self.shared.keep(refused.into()),
        }
    }

    /// A message about a task that is over.
    pub(crate) async fn take_out(&self, delivery: Option<Delivery>) -> Result<(), Error> {
        let Some(delivery) = delivery else { return Ok(()) };
        let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
        commit.deliveries.push(DeliveryChange::Ack(delivery));
        self.shared.commit(commit).await?;
        Ok(())
    }
}
