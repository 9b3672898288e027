//! One file for each kind of thing that can be asked about. A route's description says which scope it needs, and that is what is
//! enforced.

mod activity;
mod all;
mod approvals;
mod commands;
mod decisions;
mod deliverables;
mod documents;
mod events;
mod executions;
mod forks;
mod goals;
mod health;
mod house;
mod monitors;
mod objectives;
mod openapi;
mod operating;
mod questions;
mod records;
mod redirect;
mod sessions;
mod spending;
mod start;
mod task_control;
mod task_story;
mod tasks;
mod terminals;
mod whose;

pub use all::routes;
pub use events::HOOK;
pub use events::hooked;
pub use health::HEALTH;
pub use terminals::TICKET;
