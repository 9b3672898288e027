//! The repository's own rules, as a program. `tidy` reads every file that belongs to the repository and reports what breaks
//! a rule that neither the compiler nor clippy can see: which crate may use which, how a file introduces itself, what must
//! not appear at all. Rules are pure functions over a [`Tree`]; only [`Tree::read`] touches the disk. Nothing here repairs
//! anything.

pub mod exceptions;
pub mod finding;
pub mod map;
pub mod rules;
pub mod rust_file;
pub mod tidy;
pub mod tree;

pub use finding::Finding;
pub use tidy::tidy;
pub use tree::Tree;
