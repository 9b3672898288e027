//! Monitors: a task whose agent is told from time to time to look at something, and on whom nobody works in between. A monitor has a
//! stream and a timer, both named for its task. `set` begins one, from a call of the agent's or from outside; `fire` has the
//! agent told, and the task ended when the time is over; `schedules` lists all that is due some time, whatever it is.

mod fire;
mod journal;
mod schedules;
mod set;

pub(crate) use fire::{MONITOR_TIMER, monitor_timer_name};
pub use schedules::{Scheduled, ScheduledKind};
