//! What must be true of every history of engines. Each file is one rule, and a rule answers with complaints: none is good.
//! What a person said, what was done outside and what was asked for is known without the engine; the rest is read from
//! the store as it is.

mod approvals;
mod court;
mod endings;
mod examination;
mod family;
mod objectives;
mod plans;
mod questions;
mod records;
mod research;
mod rest;
mod schedules;
mod taint;

pub use examination::examine_engines;
