//! Bringing together what two made of the same tree: `trees` decides name by name, `lines` within a file.

mod lines;
mod trees;

pub(crate) use trees::merge;
pub use trees::{Conflict, Disagreement, Merged};
