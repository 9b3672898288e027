//! The state of a monitor: a fold over its stream; and when it is time to look.

use super::event::{MonitorEvent, MonitorOver, MonitorSet};
use super::schedule::MonitoringSchedule;
use crate::id::MessageId;
use crate::time::{Wall, millis};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MonitorState {
    pub set: Option<MonitorSet>,
    /// When it is looked next.
    pub due: Wall,
    pub firings: u32,
    /// The newest word to look.
    pub told: Option<MessageId>,
    pub over: Option<MonitorOver>,
}

impl MonitorState {
    pub fn apply(&mut self, event: &MonitorEvent) {
        match event {
            MonitorEvent::Set(set) => {
                (self.due, self.over) = (set.due, None);
                self.set = Some(set.clone());
            }
            MonitorEvent::Fired(fired) => {
                (self.firings, self.due, self.told) = (fired.firing, fired.due, Some(fired.message_id));
            }
            MonitorEvent::Ended(ended) => self.over = Some(ended.why),
        }
    }

    /// What is gone by, while it is.
    pub fn active(&self) -> Option<&MonitorSet> {
        self.set.as_ref().filter(|_| self.over.is_none())
    }

    /// When somebody has to see to it next: a look, or the end.
    pub fn wakes_at(&self) -> Option<Wall> {
        self.active().map(|set| self.due.min(set.schedule.timeout_at))
    }
}

/// Whether the time of the next look has come. None is further away than the interval: where one is, the clock was ahead and has been
/// put right.
pub fn is_due(monitor: &MonitorState, now: Wall) -> bool {
    monitor.active().is_some_and(|set| now >= monitor.due || monitor.due > now + set.schedule.interval())
}

/// The look after this one, in step with those before it. All that was missed is one look.
pub fn next_due(schedule: &MonitoringSchedule, due: Wall, now: Wall) -> Wall {
    let interval = millis(schedule.interval()).max(1);
    match now.as_millis().checked_sub(due.as_millis()) {
        Some(late) => Wall::from_millis(now.as_millis().saturating_add(interval - late % interval)),
        None => now + schedule.interval(),
    }
}
