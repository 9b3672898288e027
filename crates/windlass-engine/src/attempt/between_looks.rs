//! Whoever drives a task that watches something waits here for its next look, and may not be the only one: a worker may be sent for it,
//! and end it, have it rest or ask a person. Nothing of the task is in memory meanwhile.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::select;
use windlass_domain::task::{TaskState, TaskStatus};
use windlass_domain::{Canceller, Stop, TaskId, TaskResult, TaskResultStatus};

use super::drive::Driven;
use super::registration::Registration;
use crate::Error;
use crate::control::{PAUSED, subscribe};
use crate::engine::Engine;
use crate::read::Sending;

/// How often it is looked for what no hint tells.
const LOOK_EVERY: Duration = Duration::from_millis(900);

/// How a task stands that was left to its monitor.
enum Found {
    /// Its monitor has not told it to look, or somebody else works on it.
    Waits,
    /// There is something to do, or it is over.
    GoesOn,
    /// Somebody else brought it to where a person has to see to it.
    Rests(Box<Driven>),
}

impl Engine {
    /// Whether it goes on without anybody: its monitor says when.
    pub(super) async fn waits_by_itself(&self, task: TaskId) -> Result<bool, Error> {
        let state = self.task(task).await?;
        Ok(state.is_monitoring() && state.waits_for.iter().all(|about| about.monitor().is_some()))
    }

    /// `None`: it can be gone on with. Timers are minded here too: there may be no worker.
    pub(super) async fn until_its_next_look(&self, task: TaskId) -> Result<Option<Driven>, Error> {
        let canceller = Canceller::default();
        let _registered = Registration::new(&self.shared, task, canceller.clone());
        let signal = canceller.signal();
        let mut hints = subscribe(&self.shared, task);
        loop {
            self.let_timers_fire().await?;
            match self.between_looks(task).await? {
                Found::Waits => {}
                Found::GoesOn => return Ok(None),
                Found::Rests(driven) => return Ok(Some(*driven)),
            }
            match signal.raised() {
                None => {}
                Some(Stop::LeaseLost) => return Err(Error::LeaseLost(task)),
                Some(Stop::Cancel) => return self.ask_to_cancel(task, "cancelled by the user").await.map(|()| None),
                Some(Stop::Pause) => return self.ask_to_pause(task, PAUSED).await.map(|()| None),
            }
            let _whichever = select(pin!(hints.changed(LOOK_EVERY)), pin!(signal.wait())).await;
        }
    }

    async fn between_looks(&self, task: TaskId) -> Result<Found, Error> {
        // Before how it stands: whoever has it rest takes the message out with the same commit.
        let sending = self.sending(task).await?;
        let state = self.task(task).await?;
        let is_asked = state.waits_for.iter().any(|about| about.monitor().is_none());
        Ok(match sending {
            _ if state.is_over() => Found::GoesOn,
            Some(Sending::Taken) => Found::Waits,
            // Whoever held it may not have let go yet.
            Some(Sending::Waits | Sending::Left) => match self.nobody_drives(task).await {
                Err(Error::HeldElsewhere { .. }) => Found::Waits,
                free => free.map(|()| Found::GoesOn)?,
            },
            None if state.status == Some(TaskStatus::Paused) => {
                Found::Rests(Box::new(Driven::Paused(self.as_it_rests(task, &state, TaskResultStatus::Paused).await?)))
            }
            None if is_asked => {
                let mut result = self.as_it_rests(task, &state, TaskResultStatus::BlockedUser).await?;
                if let Some(first) = state.waits_for.iter().find(|about| about.is_of_people()) {
                    result.hitl_request = self.hitl_request(*first).await?;
                }
                Found::Rests(Box::new(Driven::Waiting(result)))
            }
            None => Found::Waits,
        })
    }

    async fn as_it_rests(
        &self,
        task: TaskId,
        state: &TaskState,
        status: TaskResultStatus,
    ) -> Result<TaskResult, Error> {
        let mut result = state.report(status, false, None).ok_or(Error::NoSuchTask(task))?;
        let used = self.used_by(task).await?;
        (result.usage, result.cost_usd) = (used.usage, (!used.unpriced).then_some(used.cost));
        Ok(result)
    }
}
