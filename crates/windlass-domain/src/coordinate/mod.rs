//! The coordinator's values (seed 000 §3): who speaks and by which door, what reaches a session from outside, how much of it at once,
//! and how a session and its tasks are shown. What may happen in a session is in `session`.

mod limits;
mod origin;
mod outbox;
mod trigger;
mod user;
mod view;

pub use limits::ConcurrencyConfig;
pub use origin::{Channel, LOCAL_USER, Origin, UNNAMED_USER, is_nobodys};
pub use outbox::{OutboxEvent, OutboxMoved, OutboxOpened, OutboxState};
pub use trigger::{Steering, Trigger, TriggerType, Triggered};
pub use user::{SessionBegan, SessionRested, UserAction, UserEvent, UserRejected, UserState};
pub use view::{Names, SessionView, TaskEntry};
