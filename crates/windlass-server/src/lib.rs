//! `windlass serve`: Windlass for other programs, over HTTP. `http` accepts connections and bounds what any of them can cost; `auth`
//! says who asks, before anything else is looked at; `routes` has one file for each kind of thing that can be asked about, and
//! their descriptions are the document at `/openapi.json`; `console` has the pages for people. What the server needs to know of the operator's configuration it is
//! handed (`port`); what it does, the engine does.

mod answers;
mod ask;
pub mod auth;
mod console;
mod events;
mod http;
mod openapi;
pub mod port;
mod problems;
mod pulse;
pub mod redis;
mod routes;
mod server;
mod service;
mod stamp;
mod terminals;

pub use events::Live;
pub use http::{BadTls, Drain, Limits, Tls, tls_from_files};
pub use openapi::document;
pub use problems::Refusal;
pub use server::{Server, ServerParts};
pub use stamp::Stamp;
pub use terminals::TerminalPlaces;
