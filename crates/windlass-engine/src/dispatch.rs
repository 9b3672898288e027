//! Tasks in the executor's queue: every task that somebody should work on has a message there, and none that is parked,
//! paused or over needs one. Whoever has the message drives the task, and the commit with which the driving ends takes it
//! out. Who may write is decided by the task's lease; the message only says that there is work.

use windlass_domain::queue::{MessageKind, QueueMessage, Sender, Urgency};
use windlass_domain::task::TaskStatus;
use windlass_domain::{MessageId, Taint, TaskId};
use windlass_store::queue::{Consumer, Desk, Error as QueueError, Leased, Queue, enqueue, enqueue_taken, retry};
use windlass_store::{Commit, Delivery, DeliveryChange, Error as StoreError, Standing};

use crate::Error;
use crate::approvals::trace_of;
use crate::attempt::task_stream;
use crate::engine::{Engine, Shared};
use crate::process::owner;

/// What the message says; the task is in its headers.
const DRIVE: &str = "drive";

/// A task bears twenty interruptions before it fails; a message that came to nothing so often tells of something else.
const MAX_DELIVERIES: u32 = 40;

impl Shared {
    pub fn desk(&self) -> Desk<'_> {
        let desk = Desk::new(self.store.as_ref(), self.runtime.as_ref(), self.telemetry.as_ref());
        Desk { max_deliveries: MAX_DELIVERIES, ..desk }
    }

    /// One who takes tasks: those of this machine, and those that can be worked on anywhere.
    pub async fn consumer(&self) -> Result<Consumer, Error> {
        Ok(Consumer::new(Queue::Executor, owner(&self.house).await?).at(self.process.place()))
    }

    fn drive_message(&self, task: TaskId, placement: Option<String>, urgency: Urgency) -> QueueMessage {
        let now = self.wall();
        let id = MessageId::new(now, self.runtime.random());
        let from = (Sender::Runtime, MessageKind::SystemEvent);
        let whose = (self.tenant.clone(), Taint::Auth);
        let message = QueueMessage::new(id, trace_of(task), from, whose, DRIVE, now);
        QueueMessage { task_id: Some(task), placement, urgency, ..message }
    }
}

impl Engine {
    /// Puts a parked task back into the queue, in `commit`. Whether it is parked is looked at again by the commit itself: it
    /// expects the task to stand where it stood.
    pub(crate) async fn wake(&self, commit: &mut Commit, task: TaskId) -> Result<(), Error> {
        let journal = self.task_journal(task).await?;
        let is_asleep = journal.state.is_parked() && journal.state.status == Some(TaskStatus::Running);
        commit.expect.push((journal.stream, journal.head));
        if is_asleep {
            let placement = journal.state.created.and_then(|created| created.placement);
            enqueue(commit, Queue::Executor, &self.shared.drive_message(task, placement, Urgency::NeedsAttention))?;
        }
        Ok(())
    }

    /// Commits, and has some worker drive the task.
    pub(crate) async fn queue_up(
        &self,
        mut commit: Commit,
        task: TaskId,
        placement: Option<String>,
    ) -> Result<(), Error> {
        let message = self.shared.drive_message(task, placement, Urgency::Informational);
        enqueue(&mut commit, Queue::Executor, &message)?;
        self.shared.commit(commit).await?;
        Ok(())
    }

    /// Commits, with the task's message in this process's hands.
    pub(crate) async fn queue_up_taken(
        &self,
        mut commit: Commit,
        task: TaskId,
        placement: Option<String>,
    ) -> Result<Leased, Error> {
        let owner = owner(&self.shared.house).await?;
        let message = self.shared.drive_message(task, placement, Urgency::Informational);
        let delivery = enqueue_taken(&mut commit, Queue::Executor, &message, owner)?;
        self.shared.commit(commit).await?;
        Ok(self.shared.desk().taken(Queue::Executor, message, delivery))
    }

    /// The task's message for this process, made anew where there is none. `None`: somebody else has it.
    pub(crate) async fn claim(&self, task: TaskId, placement: Option<String>) -> Result<Option<Leased>, Error> {
        let shared = &self.shared;
        if let Some(leased) = shared.lock_in_hand().remove(&task) {
            return Ok(Some(leased));
        }
        let queue = Queue::Executor.name();
        let found = shared.store.about(&shared.tenant, queue, &task_stream(task)).await?;
        let Some(message) = found.first() else {
            let commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
            return self.queue_up_taken(commit, task, placement).await.map(Some);
        };
        // Somebody asks for it by name: it has all its tries again.
        if matches!(message.standing, Standing::Dead { .. }) {
            retry(shared.store.as_ref(), &shared.tenant, message.message_id, shared.wall()).await?;
        }
        let mut consumer = shared.consumer().await?;
        let mut witness = shared.process.witness.lock().await;
        Ok(shared.desk().claim(&mut consumer, &mut witness, &shared.tenant, message.message_id).await?)
    }

    /// A message for work that came to nothing here: another try, later. One that is not ours any more is another's to mind.
    pub(crate) async fn put_back(&self, leased: &Leased, error: &Error) {
        match self.shared.desk().nack(leased, &error.to_string()).await {
            Ok(_) | Err(QueueError::Store(StoreError::StaleDelivery { .. })) => {}
            Err(refused) => self.shared.keep(&refused),
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
