//! The Model Context Protocol, both sides. The client's asks a server which tools it has, and calls them. A `Transport` carries
//! messages, a `Session` asks one question at a time over it, a `Server` begins sessions as they are needed and calls only
//! what is still defined as the operator accepted it (`Pins`). A definition is a promise in words to a model: we keep it as
//! it came, byte for byte in canonical form, and a server that changes it is not called. The server's side is `serve`.
//!
//! Not here: processes and listeners (whoever has them implements `Pipe` and `Post`, or hands over requests), whether a call is
//! allowed, and everything of the protocol but tools. What a server asks of us is refused.

mod content;
mod definition;
mod error;
mod http;
mod limits;
mod lines;
mod message;
mod pins;
pub mod serve;
mod server;
mod session;
mod sse;
mod stdio;
mod transport;

pub use content::Answer;
pub use definition::{Definition, Listing, Unusable, full_name, name_problem};
pub use error::Error;
pub use http::Http;
pub use limits::Limits;
pub use pins::{Pins, Standing, compare};
pub use server::{Connector, Server};
pub use session::Session;
pub use stdio::Stdio;
pub use transport::{Body, Pipe, Post, Posted, Transport};
