//! Codex: how it is started, and the talk with it.

mod adapter;
mod item;
mod launch;
mod talk;

pub use adapter::Codex;
