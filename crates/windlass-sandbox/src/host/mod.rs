//! The owner's side of a sandbox: starting the supervisor, and running commands through it.

mod bait;
mod capture;
mod cgroup;
mod janitor;
mod run;
mod session;
mod spawner;

pub(crate) use bait::Trap;
pub(crate) use cgroup::Groups;
pub(crate) use session::{Failure, Session, Start};
pub(crate) use spawner::{Spawn, capture_version};
