//! Claude Code: how it is started, and the talk with it.

mod adapter;
mod launch;
mod talk;

pub use adapter::ClaudeCode;
