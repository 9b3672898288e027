//! A monitor whose time has come. Nobody works here, so that timers stay quick: that the agent is told, the words themselves and the
//! message that has the task gone on with are one commit, with the next time. While the agent has not heard the last word to look, it
//! is not told again: all that is missed is one look. When the time for it is over the task is told so (`deadlines`).

use windlass_domain::execution::AgentInjection;
use windlass_domain::monitor::{MonitorAction, MonitorState, is_due, next_due};
use windlass_domain::task::{Control, TaskStatus, TimeLimit, TimeUp, has_a_hearer};
use windlass_domain::{Encoded, Taint, TaskId, Wall};
use windlass_store::{Error as StoreError, NewTimer, TimerChange, TimerName};

use super::journal::MonitorJournal;
use crate::Error;
use crate::control::mailbox;
use crate::engine::Engine;
use crate::host::Rider;

pub(crate) const MONITOR_TIMER: &str = "monitor/";
const PAGE: usize = 100;

pub(super) fn monitor_timer(task: TaskId, due: Wall) -> TimerChange {
    let note = serde_json::value::to_raw_value(&task).expect("an id is plain data");
    TimerChange::Set(NewTimer {
        name: monitor_timer_name(task),
        due,
        queue: "monitor".to_owned(),
        encoded: Encoded { kind: "monitor.due", version: 1, data: note, since: 1, older: &[] },
        taint: Taint::Auth,
    })
}

pub(crate) fn monitor_timer_name(task: TaskId) -> TimerName {
    TimerName(format!("{MONITOR_TIMER}{task}"))
}

impl Engine {
    /// Its timer is due. What changed at that very moment is looked at again: the timer still stands.
    pub(crate) async fn fire_monitor(&self, task: TaskId) -> Result<(), Error> {
        match self.try_fire(task).await {
            Err(Error::Store(StoreError::Conflict { .. })) => Ok(()),
            fired => fired,
        }
    }

    async fn try_fire(&self, task: TaskId) -> Result<(), Error> {
        let (shared, now) = (&self.shared, self.shared.wall());
        let mut journal = self.monitor_journal(task).await?;
        let state = self.task(task).await?;
        let mut rider = Rider::default();
        match journal.state.active() {
            None => rider.timers.push(TimerChange::Cancel(monitor_timer_name(task))),
            Some(_) if state.is_over() => {
                journal.ride(&mut rider, [MonitorAction::Close], &shared.redactor, Taint::Auth, now)?;
                rider.timers.push(TimerChange::Cancel(monitor_timer_name(task)));
            }
            Some(set) if now >= set.schedule.timeout_at => {
                let (limit, at) = (TimeLimit::Monitor, set.schedule.timeout_at);
                let up = TimeUp { limit, at, action: set.schedule.timeout_action.into() };
                journal.ride(&mut rider, [MonitorAction::TimeOut { now }], &shared.redactor, Taint::Auth, now)?;
                rider.timers.push(TimerChange::Cancel(monitor_timer_name(task)));
                rider.messages.push(self.mail(task, Control::TimeUp(up), Taint::Auth)?);
                self.wake_to_end(&mut rider, task).await?;
            }
            Some(_) if is_due(&journal.state, now) => {
                if has_a_hearer(&state) && !self.is_still_told(task, &journal.state).await? {
                    self.tell_to_look(&mut rider, &mut journal, task, now).await?;
                }
                rider.timers.extend(next_time(&journal.state, now).map(|due| monitor_timer(task, due)));
            }
            // The clock was put back since the timer went off.
            Some(_) => rider.timers.extend(journal.state.wakes_at().map(|due| monitor_timer(task, due))),
        }
        journal.expect(&mut rider);
        self.commit_monitor(rider).await
    }

    async fn tell_to_look(
        &self,
        rider: &mut Rider,
        journal: &mut MonitorJournal,
        task: TaskId,
        now: Wall,
    ) -> Result<(), Error> {
        let Some(set) = journal.state.active().cloned() else { return Ok(()) };
        let told = AgentInjection::check_now(&set.schedule, journal.state.firings.saturating_add(1));
        let mail = self.mail(task, Control::Inject(told), set.taint)?;
        let fire = [MonitorAction::Fire { message_id: mail.message_id, now }];
        journal.ride(rider, fire, &self.shared.redactor, Taint::Auth, now)?;
        rider.messages.push(mail);
        self.wake_to_look(rider, task).await
    }

    /// One that waits for a person could not listen yet, and one that rests or is worked on hears of it by itself.
    pub(super) async fn wake_to_look(&self, rider: &mut Rider, task: TaskId) -> Result<(), Error> {
        let state = self.task(task).await?;
        if state.status == Some(TaskStatus::Running) && state.is_monitoring() {
            return self.wake_for(rider, task, None).await;
        }
        let journal = self.task_journal(task).await?;
        rider.expect.push((journal.stream, journal.head));
        Ok(())
    }

    /// Whether the last word to look lies unheard in its mailbox.
    async fn is_still_told(&self, task: TaskId, monitor: &MonitorState) -> Result<bool, Error> {
        let Some(told) = monitor.told else { return Ok(false) };
        let shared = &self.shared;
        let waiting = shared.store.mailbox(&shared.tenant, &mailbox(task), shared.wall(), PAGE).await?;
        Ok(waiting.iter().any(|message| message.message_id == told))
    }

    /// Whether its time has come though its timer is for later, because the clock was ahead when that was set.
    pub(crate) async fn is_monitor_overslept(&self, task: TaskId) -> Result<bool, Error> {
        Ok(is_due(&self.monitor(task).await?, self.shared.wall()))
    }
}

/// When somebody has to see to it after now.
fn next_time(monitor: &MonitorState, now: Wall) -> Option<Wall> {
    let set = monitor.active()?;
    let due = if monitor.due > now { monitor.due } else { next_due(&set.schedule, monitor.due, now) };
    Some(due.min(set.schedule.timeout_at))
}
