//! Driving a task: `next_move` says what, these files do it. Approval, gates and the ladder join here.

mod between_looks;
mod context;
mod drive;
mod driver;
mod folders;
mod help;
mod inputs;
mod lazy_sandbox;
mod lifecycle;
mod parking;
mod part;
mod registration;
mod repair;
mod report;
mod run;
mod screenshots;
mod task_journal;
mod time_up;
mod trace_file;
mod verify;

pub(crate) use drive::Aim;
pub use drive::Driven;
pub(crate) use inputs::Following;
pub(crate) use lifecycle::{Before, move_to, to_running};
pub(crate) use registration::{AtWork, Registration};
pub(crate) use repair::{PlannerSaid, do_otherwise, no_other_way};
pub(crate) use run::bare_sandbox;
pub(crate) use task_journal::{NotDecided, TaskJournal, task_stream};
pub(crate) use verify::{Judged, Patience, Protection, Subject, Trouble, Verifier, sweep_copies};
