//! Beginning a monitor, as part of a commit of the host's or by a word from outside; and removing it.

use windlass_domain::monitor::{MonitorAction, MonitorRejected, MonitoringSchedule, SetBy};
use windlass_domain::task::has_a_hearer;
use windlass_domain::{Taint, TaskId};
use windlass_store::{Commit, Error as StoreError, TimerChange};

use super::fire::{monitor_timer, monitor_timer_name};
use crate::Error;
use crate::engine::Engine;
use crate::host::Rider;

/// Whoever drives may write to the task's stream meanwhile; nobody does so for long.
const TRIES: usize = 16;

impl Engine {
    /// The call that waits for it, its record and its timer are one commit.
    pub(crate) async fn set_monitor(
        &self,
        rider: &mut Rider,
        task: TaskId,
        schedule: MonitoringSchedule,
        (by, taint): (SetBy, Taint),
    ) -> Result<(), Error> {
        let (shared, now) = (&self.shared, self.shared.wall());
        let mut journal = self.monitor_journal(task).await?;
        let set = [MonitorAction::Set { schedule, by, taint, now }];
        journal.ride(rider, set, &shared.redactor, taint, now)?;
        rider.timers.extend(journal.state.wakes_at().map(|due| monitor_timer(task, due)));
        Ok(())
    }

    /// Has a task's agent told from time to time, whatever it does. It takes the place of what the agent set itself.
    pub async fn add_monitor(&self, task: TaskId, schedule: &MonitoringSchedule) -> Result<(), Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_add(task, schedule.clone()).await {
                Err(Error::Store(StoreError::Conflict { .. })) if tries < TRIES => {}
                added => return added,
            }
        }
    }

    async fn try_add(&self, task: TaskId, schedule: MonitoringSchedule) -> Result<(), Error> {
        let journal = self.task_journal(task).await?;
        let created = journal.state.created.as_ref().ok_or(Error::NoSuchTask(task))?;
        if journal.state.is_over() {
            return Err(Error::Over(task));
        }
        if created.planned {
            return Err(Error::NothingToMonitor(task));
        }
        if !has_a_hearer(&journal.state) {
            return Err(Error::TooLate(task));
        }
        let mut rider = Rider { expect: vec![(journal.stream.clone(), journal.head)], ..Rider::default() };
        self.set_monitor(&mut rider, task, schedule, (SetBy::Person, Taint::Auth)).await?;
        self.commit_monitor(rider).await
    }

    /// An agent that waits for it goes on.
    pub async fn remove_monitor(&self, task: TaskId) -> Result<(), Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_remove(task).await {
                Err(Error::Store(StoreError::Conflict { .. })) if tries < TRIES => {}
                removed => return removed,
            }
        }
    }

    async fn try_remove(&self, task: TaskId) -> Result<(), Error> {
        let (shared, now) = (&self.shared, self.shared.wall());
        if self.task(task).await?.is_over() {
            return Err(MonitorRejected::Absent.into());
        }
        let mut journal = self.monitor_journal(task).await?;
        let timers = vec![TimerChange::Cancel(monitor_timer_name(task))];
        let mut rider = Rider { timers, ..Rider::default() };
        journal.ride(&mut rider, [MonitorAction::Remove], &shared.redactor, Taint::Auth, now)?;
        self.wake_to_look(&mut rider, task).await?;
        self.commit_monitor(rider).await
    }

    pub(super) async fn commit_monitor(&self, rider: Rider) -> Result<(), Error> {
        let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
        rider.ride(&mut commit);
        self.shared.commit(commit).await?;
        Ok(())
    }
}
