//! Where attempts of a plan's items work: a folder of its own for each, filled from a snapshot and never linked with the user's
//! files. `Worktrees` knows the places, `prepare` fills one, `salvage` keeps what was not merged, `artifacts` keeps what was
//! delivered; then the folder may go, and `orphans` finds those that did not. All of it blocks, and any of it may be done again after a crash.
//!
//! No git worktree: no hook, filter or configuration of the repository is run, and nothing is written into it but what
//! `salvage` draws under `refs/windlass/`.

mod artifacts;
mod orphans;
mod places;
mod prepare;
mod salvage;

pub use artifacts::{Delivered, artifacts};
pub use places::Worktrees;
pub use prepare::{Input, Prepared, prepare};
pub use salvage::{Salvaged, Unmerged, salvage};
