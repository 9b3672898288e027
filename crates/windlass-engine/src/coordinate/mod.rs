//! The coordinator (seed 000 §3): what reaches sessions and tasks from outside, by whatever door. Each thing has an id of its own and is
//! heeded once, in one commit with its session's record of it, so that no two of one session interleave; how much goes on at once is
//! counted there too. The one router that asks a model is the turn (`turns`). What goes out is read from the store by its position.

mod answer;
mod command;
mod mandate;
mod opening;
mod outbox;
mod outgoing;
mod place;
mod state;
mod telling;
mod trigger;
mod user;
mod within;

pub use command::{Commanded, TaskOrder};
pub(crate) use mandate::Mandate;
pub(crate) use opening::Opening;
pub use outbox::OutboxPage;
pub use outgoing::{Outgoing, Published};
pub(crate) use place::Place;
pub(crate) use state::Dated;
pub use state::Naming;
pub(crate) use telling::Told;
pub use trigger::{Heeded, Means};
pub(crate) use user::user_weight;
