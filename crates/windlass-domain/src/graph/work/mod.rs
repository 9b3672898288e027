//! The AND/OR graph that a plan or an objective is worked on as. Its atoms are in a tree: whatever holds others is done when all of
//! them are, of each group of choices one, and then its own checks pass. Edges say what waits for what. Everything here is kept as
//! things happen, so that what comes next is found without looking at what is done.
//!
//! An atom is *live* unless it was dropped, and *needed* when it is live and in no choice that is not the one being tried. Where an
//! atom fails, `rung` says what is tried next, and `Measure` why that has an end.

mod atoms;
mod bound;
mod circle;
mod enter;
mod ladder;
mod measure;
mod memory;
mod node;
mod plant;
mod reopen;
mod steps;
mod walk;

pub(crate) use atoms::{GroupAt, NodeAt};
pub use atoms::{Need, Turn, Work};
pub use bound::bound;
pub use ladder::Rung;
pub use measure::Measure;
pub use memory::Memory;
pub use node::{Group, Left, Node, Standing};
