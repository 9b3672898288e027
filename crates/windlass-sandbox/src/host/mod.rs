//! The owner's side of a sandbox: starting the supervisor, and running commands through it.

mod bait;
mod capture;
mod cgroup;
mod guard;
mod janitor;
mod life;
mod line;
mod listen;
mod pipes;
mod placeholder;
mod places;
mod private;
mod program;
mod run;
mod session;
mod spawn;
mod spawner;
mod start;
mod talk;
mod terminal;
mod way_out;

pub(crate) use bait::{SEALED, Trap};
pub(crate) use cgroup::{Groups, Version};
pub(crate) use guard::find_guarded;
pub(crate) use janitor::{Body, Remains};
pub(crate) use placeholder::Placeholder;
pub(crate) use places::{Place, identify};
pub(crate) use private::private_directory;
pub(crate) use program::{Program, path_to};
pub(crate) use session::{Inside, Session, instruct};
pub(crate) use spawn::{Heard, Spawn};
pub(crate) use spawner::capture_version;
pub(crate) use start::{Failure, Start};
pub(crate) use way_out::WayOut;
