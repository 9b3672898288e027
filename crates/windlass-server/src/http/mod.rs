//! Connections: who may have one, for how long, and how much may come over it, all of it bounded before anybody has said who
//! they are. What is asked over them is the router's.

mod accept;
mod drain;
mod limits;
mod patient;
mod places;
#[cfg(test)]
mod tests;
mod timer;
mod tls;

pub(crate) use accept::{Listener, Made};
pub use drain::Drain;
pub(crate) use drain::Draining;
pub use limits::Limits;
pub(crate) use places::{Busy, ForAnybody};
pub use tls::{BadTls, Tls, tls_from_files};
