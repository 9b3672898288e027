//! Plan documents (contracts §1): YAML front matter and a Markdown body. `front` takes them apart, `item` reads fields, `tree`
//! holds the items against each other, with `circles` for what waits for itself, `body` gives each its words. `objective` reads
//! objective files in the same way, and `remembered` what they say of an earlier run.

mod body;
mod circles;
mod front;
mod item;
mod objective;
mod read;
mod remembered;
mod tree;
mod write;

pub use objective::{ObjectiveFile, one_atom, parse_atom, parse_objective, plan_of};
pub use read::{GateReader, parse_plan};
pub use write::{ObjectivePage, write_objective};
