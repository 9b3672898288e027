//! Why a planned task does what it does: what is known of it (`known`), the reasons (`why`), what is left (`left`), what was promised (`bound`), and
//! both in lines for people and in JSON (`whole`, `atom`). All of it is told from the records; nobody is asked.

mod atom;
mod bound;
mod known;
mod left;
mod whole;
mod why;

pub use atom::{atom_as_json, atom_in_lines};
pub use bound::Bound;
pub use known::Known;
pub use whole::{whole_as_json, whole_in_lines};
