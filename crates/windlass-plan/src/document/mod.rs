//! Plan documents (contracts §1): YAML front matter and a Markdown body. `front` takes them apart, `item` reads fields, `tree`
//! holds the items against each other, `body` gives each its words.

mod body;
mod front;
mod item;
mod objective;
mod read;
mod tree;
mod write;

pub use objective::{ObjectiveFile, one_atom, parse_atom, parse_objective, plan_of};
pub use read::{GateReader, parse_plan};
pub use write::{ObjectivePage, write_objective};
