//! The script over HTTP, for whatever speaks to OpenAI (chat completions, responses) or Anthropic (messages), streaming or
//! not. The model's name picks the track, the assistant messages in a request tell the turn. Listens on the loopback
//! address and nowhere else. It is also the server of the benchmarks, so it looks at no more of a request than it must.

mod body;
mod server;
mod service;
mod tries;

pub(crate) use body::read;
pub use server::Server;
pub(crate) use service::{HowPlayed, Played, Service};
