//! The sandbox against the real bubblewrap and against commands that mean harm.
//!
//! Times appear only as limits given to commands and as guards against hanging; nothing is asserted about how long
//! anything took.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests run real programs and guard against hanging by the real clock"
)]

mod attack;
mod canary;
mod confinement;
mod docker;
mod egress;
mod guarded;
mod home;
mod hostile;
mod lifecycle;
mod limits;
mod listen;
mod moody;
mod owner;
mod replaced;
mod support;
mod talk;
mod terminal;
mod unprivileged;
