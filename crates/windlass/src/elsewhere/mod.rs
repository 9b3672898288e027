//! Commands for a server at another address: the same ones, with the same words. What is done in one go is done there by the very
//! function that would do it here, and printed here; what is waited for is followed by its records. One place decides whether a command
//! is for a server (`choice`), and one which commands can be (`carry_out`).

mod agent_test;
mod align;
mod approve;
mod ask;
mod attach;
mod carry_out;
mod choice;
mod far;
mod follow;
mod fork;
mod goals;
mod log;
mod ordered;
mod redirect;
mod replay;
mod say;
mod start;
mod story;
mod trace;

pub use carry_out::{Carried, carry_out};
pub use choice::{ClientConfig, far};
pub use far::{Far, explained};
pub use ordered::folder;
