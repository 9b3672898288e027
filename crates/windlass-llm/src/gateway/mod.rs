//! A model server of our own for one foreign agent. The agent knows its address and a key that dies with the execution, and
//! nothing else: the real credential is put in here, every request is asked for and metered, and whatever name the agent sends,
//! the model that answers is the one that was chosen for it. Behind the gateway stands a script or any model server, and where
//! the two speak different languages it translates.
//!
//! Words: the *agent* is the client; *upstream* is who answers; an *account* is one request that the `Meter` has let through.

mod account;
mod activity;
mod body;
mod door;
mod elsewhere;
mod meter;
mod pass;
mod redact;
mod refuse;
mod rehearse;
mod serve;
mod service;
mod terms;
mod translate;

pub use body::{Body, Torn, boxed};
pub use elsewhere::Elsewhere;
pub use meter::{Asked, Leave, Meter, Metered, Outcome, Refusal, Ticket};
pub use serve::{Gateway, GatewayParts, Limits, Upstream};
