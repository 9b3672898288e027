//! `windlass top`: what the console shows in a browser, as a page of a terminal, for people on SSH. Everything that is shown is a value
//! (`model`); what comes makes another one of it and says what to do (`update`), and how it looks follows from it alone (`view`). Around that
//! stands the `shell`, which has the terminal, and the `source`: this machine's data directory, or a server, asked by the same errands.

mod field;
mod input;
mod look;
mod model;
mod sentence;
mod shell;
mod sight;
mod source;
#[cfg(test)]
mod tests;
mod update;
mod view;

pub use look::look;
pub use model::Model;
pub use shell::sit;
pub use sight::Look;
pub use source::Source;
