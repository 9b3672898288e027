//! Turns (contracts §9): a user says something in a session; it is kept at once, a proxy that changes nothing decides where it goes,
//! and the runtime does that in the commit that ends the turn. Nobody waits for the work that it begins.

mod act;
mod journal;
mod say;
mod status;
mod talk;

pub(crate) use act::end_turn;
pub(crate) use journal::{SessionJournal, session_weight};
pub use say::{Accepted, Saying};
