//! What may happen to a monitor. Total and pure: no look comes before its time, none after the end, and the end comes once. An agent can
//! bring the end nearer and never put it off, so that its task halts: at most so many looks as fit before the end, each within
//! the budget of its execution.

use super::event::{MonitorEnded, MonitorEvent, MonitorFired, MonitorOver, MonitorSet, SetBy};
use super::schedule::{MonitoringSchedule, Unfit};
use super::state::{MonitorState, is_due, next_due};
use crate::id::MessageId;
use crate::taint::Taint;
use crate::time::Wall;

#[derive(Debug, Clone)]
pub enum MonitorAction {
    Set {
        schedule: MonitoringSchedule,
        by: SetBy,
        taint: Taint,
        now: Wall,
    },
    Fire {
        message_id: MessageId,
        now: Wall,
    },
    TimeOut {
        now: Wall,
    },
    Remove,
    /// Its task is over.
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MonitorRejected {
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error("the end that was set before can be brought nearer and not put off (timeout_at)")]
    PutOff,
    #[error("nothing is monitored")]
    Absent,
    #[error("its time has not come")]
    NotDue,
    #[error("its time is over")]
    TimedOut,
}

pub fn decide(monitor: &MonitorState, action: MonitorAction) -> Result<MonitorEvent, MonitorRejected> {
    match action {
        MonitorAction::Set { schedule, by, taint, now } => set(monitor, schedule, by, taint, now),
        MonitorAction::Fire { message_id, now } => fire(monitor, message_id, now),
        MonitorAction::TimeOut { now } => match monitor.active() {
            None => Err(MonitorRejected::Absent),
            Some(set) if now < set.schedule.timeout_at => Err(MonitorRejected::NotDue),
            Some(_) => Ok(ended(MonitorOver::TimedOut)),
        },
        MonitorAction::Remove => over(monitor, MonitorOver::Removed),
        MonitorAction::Close => over(monitor, MonitorOver::TaskOver),
    }
}

fn set(
    monitor: &MonitorState,
    schedule: MonitoringSchedule,
    by: SetBy,
    taint: Taint,
    now: Wall,
) -> Result<MonitorEvent, MonitorRejected> {
    if let Some(objection) = schedule.objection(now) {
        return Err(objection.into());
    }
    // Also where a person has removed it since: what bounds the task is the first end that was set.
    let before = monitor.set.as_ref().map(|set| set.schedule.timeout_at);
    if by == SetBy::Agent && before.is_some_and(|before| schedule.timeout_at > before) {
        return Err(MonitorRejected::PutOff);
    }
    let due = now + schedule.interval();
    Ok(MonitorEvent::Set(MonitorSet { schedule, by, taint, due }))
}

fn fire(monitor: &MonitorState, message_id: MessageId, now: Wall) -> Result<MonitorEvent, MonitorRejected> {
    let set = monitor.active().ok_or(MonitorRejected::Absent)?;
    if now >= set.schedule.timeout_at {
        return Err(MonitorRejected::TimedOut);
    }
    if !is_due(monitor, now) {
        return Err(MonitorRejected::NotDue);
    }
    let (firing, due) = (monitor.firings.saturating_add(1), next_due(&set.schedule, monitor.due, now));
    Ok(MonitorEvent::Fired(MonitorFired { firing, message_id, due }))
}

fn over(monitor: &MonitorState, why: MonitorOver) -> Result<MonitorEvent, MonitorRejected> {
    monitor.active().map(|_| ended(why)).ok_or(MonitorRejected::Absent)
}

const fn ended(why: MonitorOver) -> MonitorEvent {
    MonitorEvent::Ended(MonitorEnded { why })
}
