//! How tasks stand: a word (`stands`), and reading what it is made of (`read`).

mod read;
mod stands;

pub use stands::Stands;
