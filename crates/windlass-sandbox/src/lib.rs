//! Confined processes: a policy and a command go in, an exit comes out, and nothing the command started is left.
//!
//! A *provider* opens a *sandbox* for one policy. The sandbox stays up between commands: inside it a small
//! *supervisor* starts each command and kills whatever the command leaves behind, so that a warm command costs
//! little more than a spawn. The *owner* is the process that opened the sandbox; when it dies, in whatever way,
//! the whole tree dies, and only then is the owner's lock free.
//!
//! ```text
//!  owner                                   sandbox
//!  Session ── link (one socket) ─────────► supervisor          pid 1 of its namespace
//!     │        passes, per command,           └─ minder        collects the command's orphans
//!     │        a control socket and pipes         └─ leader    the command itself
//!     └─ reads the pipes, or the terminal, itself     └─ …
//! ```
//!
//! This crate knows nothing about agents, tools or approval: it runs what it is given. It does not decide which
//! commands are allowed, does not keep output beyond a cap, and gives no network but what the policy lists, by a proxy, and
//! where the owner itself listens.

mod clock;
mod command;
mod diagnose;
mod egress;
mod error;
mod exit;
mod host;
mod packet;
mod policy;
mod providers;
mod sandbox;
mod seccomp;
mod supervisor;
mod wire;

pub use command::{Command, Stdin, Streams};
pub use diagnose::{Finding, State, control_groups, diagnose, diagnose_docker};
pub use egress::{
    Addresses, BadHost, Egress, EgressLimits, Hosts, Machine, Outside, Reason, Refused, Spelling, dial, not_public,
};
pub use error::Error;
pub use exit::{Exit, Status, Stream};
pub use policy::{Cgroups, Limits, Network, PROXY_PORT, Policy, Supervisor};
pub use providers::{Bubblewrap, Docker, IUnderstandThereIsNoIsolation, Process};
pub use sandbox::{BoxFuture, Cancel, MOST_LISTENERS, Output, Provider, Running, Sandbox, discard, never};
pub use supervisor::supervise;
