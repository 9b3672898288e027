//! The records of a monitor.

use serde::{Deserialize, Serialize};

use super::schedule::MonitoringSchedule;
use crate::event::events;
use crate::id::MessageId;
use crate::taint::Taint;
use crate::time::Wall;

events! {
    pub enum MonitorEvent {
        Set(MonitorSet) = "monitor.set",
        Fired(MonitorFired) = "monitor.fired",
        Ended(MonitorEnded) = "monitor.ended",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorSet {
    pub schedule: MonitoringSchedule,
    pub by: SetBy,
    /// Of whoever wrote what is to be looked at: its agent hears it as that.
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
    pub due: Wall,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetBy {
    Agent,
    Person,
}

/// The agent is told to look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorFired {
    pub firing: u32,
    /// What tells it so, in its mailbox.
    pub message_id: MessageId,
    pub due: Wall,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorEnded {
    pub why: MonitorOver,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MonitorOver {
    Removed,
    TimedOut,
    /// The task it was for is over.
    TaskOver,
}
