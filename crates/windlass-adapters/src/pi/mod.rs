//! Pi: how it is started, the talk with it, and the hook in its home that asks before it acts.

mod adapter;
mod launch;
mod talk;

pub use adapter::Pi;
