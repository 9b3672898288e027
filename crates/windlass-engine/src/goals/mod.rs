//! Goals: added with a standing approval (`add`), looked at when their time has come (`fire` sends somebody, `look` is what they do),
//! mended by tasks that are held against what was approved (`standing`), and paused, resumed or removed by their owner (`manage`). The
//! rules are `windlass_domain::goal`'s.

mod add;
mod fire;
mod journal;
mod look;
mod manage;
mod standing;

pub(crate) use add::goal_of;
pub use add::{GoalOrder, fit_goal};
pub(crate) use fire::GOAL_TIMER;
pub use journal::Goal;
