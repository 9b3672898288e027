//! The ways to confine, one file each.

mod bubblewrap;
mod docker;
mod inside;
mod process;

pub use bubblewrap::Bubblewrap;
pub use docker::Docker;
pub use process::{IUnderstandThereIsNoIsolation, Process};
