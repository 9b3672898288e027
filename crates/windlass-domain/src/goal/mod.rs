//! Goals: statements that are looked at again and again, and mended where they do not hold. A goal is not a task: each look runs its
//! checks and no agent, and what it finds broken becomes a task of its own, made of the goal's template alone. Its stream is
//! `goal/<id>`; it is folded into `GoalState`, `decide` says what may happen to it, and `next` when it is looked at and what a fix
//! is told.

mod decide;
mod event;
mod next;
mod state;

pub use decide::{GoalAction, GoalRejected, Occasion, decide};
pub use event::{
    GoalAdded, GoalChecked, GoalEvent, GoalFired, GoalPaused, GoalRemoved, GoalResumed, GoalSkipped, GoalTroubled,
};
pub use next::{fix_plan, is_due, next_due};
pub use state::{GoalState, GoalStatus, Look};
