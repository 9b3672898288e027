//! Monitors (seed 000 §13): a task whose agent is told again and again to look at something, until it says that it is done, or the time
//! for it is over. A task has at most one. It is a stream, `monitor/<task>`, folded into `MonitorState`; `decide` says what may
//! happen to it. Between two looks nobody works on the task.

mod decide;
mod event;
mod schedule;
mod state;

pub use decide::{MonitorAction, MonitorRejected, decide};
pub use event::{MonitorEnded, MonitorEvent, MonitorFired, MonitorOver, MonitorSet, SetBy};
pub use schedule::{
    LONGEST_PROMPT, LONGEST_WATCH, MonitoringSchedule, SHORTEST_INTERVAL_SECONDS, TimeoutAction, Unfit,
};
pub use state::{MonitorState, is_due, next_due};
