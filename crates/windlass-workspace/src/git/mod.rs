//! The work as git sees it: a reference of its own in the user's repository, a commit for each step. It is a picture of what the
//! snapshots hold, for people and their tools, and never read back. Read are only what the index says beyond the files that are there
//! (`index`), and where a linked worktree's repository is (`linked`). The user's branches, index and files are not
//! touched, and no hook, filter or other program of the repository is run.

mod at_work;
mod index;
mod linked;
mod program;
mod reference;
mod staying;
mod stream;

pub(crate) use at_work::Patience;
pub(crate) use index::tracked_but_ignored;
pub(crate) use linked::repository_of_linked;
pub use reference::{Drawn, GitReference, Step};
