//! The script over HTTP, for whatever speaks to OpenAI (chat completions, responses) or Anthropic (messages), streaming or
//! not. The model's name picks the track, the assistant messages in a request tell the turn. Listens on the loopback
//! address and nowhere else. It is also the server of the benchmarks, so it looks at no more of a request than it must.

mod body;
mod chat;
mod messages;
mod request;
mod responses;
mod server;
mod service;
mod skim;
mod spoken;
mod tries;

pub use server::Server;
