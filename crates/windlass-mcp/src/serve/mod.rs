//! The server's side of the Model Context Protocol: tools of ours for agents of others. `Served` is what there is to call; a
//! `Server` reads messages and answers them; an `Endpoint` carries it over streamable HTTP, `serve_lines` over a pair of byte
//! streams, and a `Bridge` lets who only knows the latter reach the former. `BackChannel` is what one execution is served:
//! what it may tell its owner and what it may read of it.
//!
//! Written over `serde_json` and hyper's types: the official crate for Rust would bring 29 more crates, and starts tasks,
//! sets timers and rolls dice past the `Runtime` port. Not here: listeners, and what a call does.

mod back_channel;
mod body;
mod bridge;
mod calls;
mod destination;
mod endpoint;
mod guard;
mod limits;
mod lines;
mod message;
mod methods;
mod operations;
mod server;
mod sessions;
mod tool;
mod version;

pub use back_channel::{BackChannel, Owner};
pub use body::Body;
pub use bridge::Bridge;
pub use destination::Unusable;

pub use endpoint::Endpoint;
pub use limits::Limits;
pub use lines::serve_lines;
pub use operations::{Holdings, Read, tools};
pub use server::{About, CallResult, Served, Server};
pub use tool::{Effect, Kind, Need, Parameter, Tool};
