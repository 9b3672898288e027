//! The work as git sees it: a reference of its own in the user's repository, a commit for each step. It is a picture of what the
//! snapshots hold, for people and their tools; nothing here is ever read back. The user's branches, index and files are not
//! touched, and no hook, filter or other program of the repository is run.

mod program;
mod reference;
mod stream;

pub use reference::{Drawn, GitReference, Step};
