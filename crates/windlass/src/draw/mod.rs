//! Work graphs as pictures: `picture` says what there is to see, `tree` draws it for a terminal, `svg` (placed by `layout`) and `mermaid` for
//! everything else. Names and titles may be anybody's: each drawing makes them harmless in its own language.

mod layout;
mod mermaid;
mod picture;
mod svg;
#[cfg(test)]
mod tests;
mod tree;

pub use mermaid::mermaid;
pub use picture::{Atom, Group, Mark, Part, Picture, is_done, meant};
pub use svg::svg;
pub use tree::{Folding, tree};
