//! Deadlines of tasks (seed 000 §3.4). The timer that a task is taken in with becomes a message in its mailbox, once, and whoever drives
//! the task heeds that: it alone may write to the task's stream. One that sleeps or rests is woken for it. Only where a deadline
//! has a task rest that rests already nobody needs to be sent, and that it has come is written at once.

use std::time::Duration;

use windlass_domain::queue::{
    ErrorCode, ExecutionStatus, MessageKind, OriginAgent, QueueMessage, QueuePayload, Sender, StatusPayload, Urgency,
};
use windlass_domain::task::{Control, Deadline, TaskAction, TaskCreated, TaskStatus, TimeUp};
use windlass_domain::{Encoded, MessageId, Taint, TaskId};
use windlass_store::queue::{Queue, enqueue};
use windlass_store::{Commit, Error as StoreError, NewTimer, TimerChange, TimerName};

use crate::Error;
use crate::approvals::trace_of;
use crate::engine::Engine;
use crate::host::Rider;

pub(crate) const DEADLINE_TIMER: &str = "deadline/";
/// Clocks on walls are put forward too: a deadline is looked at so often while a task is worked on.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// After somebody else wrote to the task first.
const AGAIN: Duration = Duration::from_millis(20);

/// Whether everything that follows from a deadline is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Came {
    Yes,
    NotYet,
}

pub(crate) fn deadline_timer(task: TaskId, deadline: Deadline) -> TimerChange {
    let note = serde_json::value::to_raw_value(&task).expect("an id is plain data");
    TimerChange::Set(NewTimer {
        name: deadline_timer_name(task),
        due: deadline.at,
        queue: "deadline".to_owned(),
        encoded: Encoded { kind: "deadline.due", version: 1, data: note, since: 1, older: &[] },
        taint: Taint::Auth,
    })
}

pub(crate) fn deadline_timer_name(task: TaskId) -> TimerName {
    TimerName(format!("{DEADLINE_TIMER}{task}"))
}

impl Engine {
    /// Its timer is due. What another has done a moment ago is not done again.
    pub(crate) async fn fire_deadline(&self, task: TaskId) -> Result<Came, Error> {
        match self.try_fire_deadline(task).await {
            Err(Error::Store(StoreError::Gone { .. })) => Ok(Came::Yes),
            // What changed at that very moment is looked at again: the timer still stands.
            Err(Error::Store(StoreError::Conflict { .. })) => Ok(Came::NotYet),
            fired => fired,
        }
    }

    async fn try_fire_deadline(&self, task: TaskId) -> Result<Came, Error> {
        let (shared, now) = (&self.shared, self.shared.wall());
        let journal = self.task_journal(task).await?;
        let mut rider = Rider { expect: vec![(journal.stream.clone(), journal.head)], ..Rider::default() };
        match journal.state.deadline() {
            None => rider.timers.push(TimerChange::Cancel(deadline_timer_name(task))),
            // The clock was put back since the timer went off.
            Some(deadline) if now < deadline.at => return Ok(Came::NotYet),
            Some(deadline) => {
                let up = TimeUp::from(deadline);
                rider.timers.push(TimerChange::Fired { name: deadline_timer_name(task), due: deadline.at });
                let rests = journal.state.status == Some(TaskStatus::Paused);
                if rests && !up.action.ends() {
                    let decided = journal.decide(vec![TaskAction::TimeUp(up)], &shared.redactor, Taint::Auth, now);
                    let decided = decided.map_err(|refused| Error::Broken { task, detail: refused.to_string() })?;
                    rider.events.extend(decided.rows);
                    self.tell_time_up(&mut rider, journal.state.created.as_ref(), &up).await?;
                } else {
                    rider.messages.push(self.mail(task, Control::TimeUp(up), Taint::Auth)?);
                    self.wake_to_end(&mut rider, task).await?;
                }
            }
        }
        let mut commit = Commit::unfenced(shared.tenant.clone(), now);
        rider.ride(&mut commit);
        shared.commit(commit).await?;
        Ok(Came::Yes)
    }

    /// Of one that is begun later than it was taken in: the task as it is then.
    pub(crate) async fn set_deadline(
        &self,
        rider: &mut Rider,
        task: TaskId,
        deadline: Deadline,
    ) -> Result<TaskCreated, Error> {
        let (shared, now) = (&self.shared, self.shared.wall());
        if deadline.at <= now {
            return Err(Error::LateDeadline(deadline.at.to_rfc3339()));
        }
        let journal = self.task_journal(task).await?;
        let decided = journal.decide(vec![TaskAction::SetDeadline(deadline)], &shared.redactor, Taint::Auth, now);
        let decided = decided.map_err(|refused| Error::NotAligned(refused.to_string()))?;
        let created = decided.created().cloned().ok_or(Error::NoSuchTask(task))?;
        rider.expect.push((journal.stream, journal.head));
        rider.events.extend(decided.rows);
        rider.timers.push(deadline_timer(task, deadline));
        Ok(created)
    }

    /// While a task is worked on, whoever works on it minds its deadline: there may be no worker.
    pub(crate) async fn mind_deadline(&self, task: TaskId, deadline: Option<Deadline>) -> std::convert::Infallible {
        let shared = &self.shared;
        if let Some(deadline) = deadline {
            loop {
                let left = deadline.at.since(shared.wall());
                if left.is_zero() && matches!(Box::pin(self.fire_deadline(task)).await, Ok(Came::Yes)) {
                    break;
                }
                shared.runtime.sleep(left.clamp(AGAIN, LOOK_EVERY)).await;
            }
        }
        std::future::pending().await
    }

    /// What the session that the task belongs to hears of it.
    pub(crate) async fn tell_time_up(
        &self,
        rider: &mut Rider,
        created: Option<&TaskCreated>,
        up: &TimeUp,
    ) -> Result<(), Error> {
        let Some(created) = created else { return Ok(()) };
        if self.session_journal(created.command.session_id).await?.state.workspace.is_none() {
            return Ok(());
        }
        let (shared, now, task) = (&self.shared, self.shared.wall(), created.command.task_id);
        let id = MessageId::new(now, shared.runtime.random());
        let from = (Sender::Runtime, MessageKind::ExecutionStatusChange);
        let whose = (shared.tenant.clone(), Taint::Auth);
        let message = QueueMessage::new(id, trace_of(task), from, whose, up.in_words(), now);
        let payload = StatusPayload {
            status: ExecutionStatus::Blocked,
            attempt_number: Some(1),
            budget_remaining_tokens: None,
            budget_remaining_usd: None,
            detail: Some(up.in_words()),
        };
        let message = QueueMessage {
            task_id: Some(task),
            urgency: Urgency::NeedsAttention,
            error_code: Some(ErrorCode::Timeout),
            retryable: Some(true),
            origin_agent: Some(OriginAgent::Executor),
            attempt_number: Some(1),
            payload: Some(QueuePayload::Status(payload)),
            ..message
        };
        let mut commit = Commit::unfenced(shared.tenant.clone(), now);
        enqueue(&mut commit, Queue::Proxy, &message)?;
        rider.ride_with(commit);
        Ok(())
    }
}
