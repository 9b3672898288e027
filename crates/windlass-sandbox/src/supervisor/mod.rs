//! The process inside the sandbox: takes commands from its owner, starts them, ends them, and dies with its owner.
//!
//! It is written with blocking calls and `poll` alone, in one thread, because it must start in a blink, because
//! its memory counts against the sandbox, and because forking is only simple where there is one thread.
//!
//! How it knows what belongs to a command: between itself and the command's first process, the *leader*, stands
//! a *minder*, a subreaper. Whatever the leader starts stays below the minder even when its parent dies or it makes
//! itself a session of its own, so the tree below the minder is the command. When the minder ends, what is left of
//! that tree falls to the supervisor: a child of the supervisor that is not a minder is a *stray*, and strays are killed.
//! A command that kills its own minder gains nothing; it only turns its own processes into strays. (Making the leader
//! itself the subreaper would save a process, but then a leader that never waits, as most long-running programs do
//! not, fills the process limit with zombies.)

mod connect;
mod job;
mod last_resort;
mod launch;
mod link;
mod memory;
mod oom;
mod probe;
mod score;
mod serve;
mod terminal;
mod tree;
mod watch;

pub(crate) use connect::CONNECT;
pub use serve::supervise;
