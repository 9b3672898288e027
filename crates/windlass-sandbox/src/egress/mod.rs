//! Leave to reach something outside: an allow-list of names, and a proxy that holds sandboxes to it.
//!
//! Inside a sandbox there is no network but its own loopback, and no resolver. The supervisor listens on that loopback and
//! hands the listening socket to its owner: a socket stays in the network it was made in, so that the owner's *proxy*
//! accepts there what commands ask for, and nothing of the way out is inside. The proxy judges each name, resolves it,
//! judges every address, and connects to the very address that it judged.
//!
//! What travels through a tunnel is not looked at: a listed host is trusted with whatever a command sends it.

mod address;
mod dial;
mod hosts;
mod proxy;
mod refused;
mod request;

pub use address::{Spelling, not_public};
pub use dial::{Addresses, Machine, Outside, dial};
pub use hosts::{BadHost, Hosts};
pub(crate) use proxy::Proxy;
pub use proxy::{Egress, EgressLimits};
pub use refused::{Reason, Refused};
