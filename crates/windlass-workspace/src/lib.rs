//! The folder an agent works in. `Root` is the one door to it for the runtime's own file work: no path leaves it, not by
//! `..`, an absolute path, a symlink, or a swap between check and use. `Snapshots` keeps whole trees by content, puts
//! them elsewhere, puts single paths back, and merges what two made of one.
//!
//! It does not confine what the agent's own commands do (the sandbox does), and decides nothing about who may change
//! what, but for the few names that `Root` protects.

mod ages;
mod apply;
mod cache;
mod capture;
mod copy;
mod diff;
mod error;
mod files;
mod folder;
mod git;
mod hash;
mod ignores;
mod intents;
mod kept_rules;
mod layout;
mod materialise;
mod merge;
mod objects;
mod path;
mod paths;
mod port;
mod real;
mod remove;
mod restore;
mod root;
mod snapshot;
mod snapshots;
mod stamps;
mod stat;
mod stream;
mod tally;
mod tracked;
mod tree;
mod walk;
mod whole;
mod write;

pub use copy::{copy_beneath, copy_folder, copy_some};
pub use diff::{Change, ChangeKind};
pub use error::Error;
pub use git::{Drawn, GitReference, Step};
pub use layout::{
    INPUTS_FOLDER, INSIDE, MEMO_FOLDER, OUTPUT_FOLDER, PLAN_FILE, RUNTIME_FILES, SCRATCH_FOLDER, SKILL_FOLDERS,
    TRACE_FOLDER,
};
pub use merge::{Conflict, Disagreement, Merged};
pub use path::WorkspacePath;
pub use remove::remove_folder;
pub use root::{Listed, Root};
pub use snapshots::{Applied, SnapshotLimits, SnapshotSetup, Snapshots};
pub use stamps::Stamps;
pub use stat::{Kind, Metadata};
pub use walk::{Search, Visit};
pub use whole::{Whole, make_whole, remove_leftovers, take_away};
