//! The shell around the rules: it takes leases, folds journals, performs what `next_move` says, runs executions under a
//! host that commits everything they do, and judges the result by checks. It knows no model and no tool: those are
//! behind `Runner`, which `Equipment` hands in.

mod answers;
mod approvals;
mod attach;
mod attempt;
mod audit;
mod control;
mod dispatch;
mod engine;
mod equipment;
mod error;
mod follow;
mod gates;
mod goals;
mod graph;
mod grounds;
mod hitl;
mod host;
mod law;
mod lease;
mod meaning;
mod memories;
mod orphans;
mod parts;
mod plans;
mod process;
mod questions;
mod read;
mod redacted;
mod submit;
mod take_back;
mod tripwire;
mod watch;
mod worker;
pub mod worktrees;

pub use approvals::{Answered, Asked};
pub use attach::Attached;
pub use attempt::Driven;
pub use audit::{AuditPage, AuditRecord, Audited, Heads, Keyring};
pub use engine::{Engine, EngineParts};
pub use equipment::{Equipment, Order};
pub use error::Error;
pub use follow::Following;
pub use gates::{GateScript, run_script};
pub use goals::{Goal, GoalOrder};
pub use law::{Law, Unsigned};
pub use memories::Recalled;
pub use plans::read_plan;
pub use process::Machine;
pub use questions::{LONGEST_MESSAGE, Message, OpenQuestion, Sent};
pub use read::{JournalRecord, TaskSummary};
pub use submit::{Dispatch, Planning, Submission, SubmittedModel};
pub use tripwire::{Tripwire, TripwirePoint};
pub use watch::{NobodyWatches, Watcher};
pub use worker::{Until, Watchers, WorkerOptions};
