//! GitHub Copilot CLI: `adapter.rs` what is started, `talk.rs` the talk, `proposal.rs` its questions in our words,
//! `shells.rs` the commands that it leaves running.

mod adapter;
mod proposal;
mod shells;
mod talk;

pub use adapter::Copilot;
