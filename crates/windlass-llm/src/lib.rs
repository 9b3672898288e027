//! Models behind one trait. A `Provider` opens a `Chat`; a chat is told each message once and asked for answers, which
//! it streams, retries, meters and prices. Four stand behind it: OpenAI-compatible chat completions, OpenAI responses,
//! Anthropic messages, and `rehearsal`, which plays a script and goes the same way in everything but the network.
//!
//! Not here: what to say to a model, when to summarise, what a budget allows (`windlass-agent`), and where keys, scripts
//! and addresses come from (the binary). Nothing here ever answers with another model than the one that was asked for.

mod answer;
mod chat;
mod context_service;
mod conversation;
mod dialect;
mod effort;
mod embeddings;
mod error;
mod gallery;
pub mod gateway;
mod http;
mod models;
mod rehearsal;
mod retry;
mod text;
mod tokens;
mod watchdog;
mod wire;

pub use chat::{Ask, Chat, Metering, Opening, Provider, Response, Setup};
pub use context_service::{ContextClient, ContextPatience};
pub use dialect::Dialect;
pub use effort::Effort;
pub use embeddings::Embeddings;
pub use error::{Error, Unusable};
pub use gallery::{LARGEST as LARGEST_IMAGE, MOST_PICTURES as MOST_IMAGES};
pub use models::{Adjustment, DEFAULT_CONTEXT_WINDOW, Model, Models, Prices, Thinking};
pub use rehearsal::{Problem, Problems, Rehearsal, Script, Server};
pub use retry::{Deadlines, Retries};
pub use tokens::{Vocabulary, estimate, estimate_image};
pub use wire::{Anthropic, Endpoint, OpenAi, Responses, base64, from_base64};
