//! GitHub Copilot CLI: `adapter.rs` what is started, `talk.rs` the talk, `proposal.rs` its questions in our words.

mod adapter;
mod proposal;
mod talk;

pub use adapter::Copilot;
