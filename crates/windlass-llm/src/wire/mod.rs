//! What the providers' HTTP interfaces have in common: a `Wire` renders messages and reads answers in one of them, purely;
//! `Remote` is a provider that speaks it over a pool of connections.

mod anthropic;
mod fault;
mod json;
mod openai;
mod reader;
mod remote;
mod sse;

use http::HeaderMap;
use windlass_domain::{Message, Secret};

use crate::answer::Piece;
use crate::chat::Opening;
use crate::models::Model;

pub use anthropic::AnthropicWire;
pub use fault::{Asker, Fault, Trouble};
pub use json::{object_arguments, raw, string, value};
pub use openai::OpenAiWire;
pub use reader::Reader;
pub use remote::{Endpoint, Remote};
pub use sse::Event;

/// OpenAI-compatible chat completions: OpenAI itself, LiteLLM, vLLM, llama.cpp, Ollama and many others.
pub type OpenAi = Remote<OpenAiWire>;
/// Anthropic messages.
pub type Anthropic = Remote<AnthropicWire>;

/// One provider's language, and where one conversation stands in it.
pub trait Wire: Default + Send + Sync + 'static {
    type Decoder: Decoder;

    /// What follows the version in the address.
    const ENDPOINT: &'static str;
    /// Where an operator puts the key.
    const KEY_VARIABLE: &'static str;

    fn headers(key: Option<&Secret>) -> Result<HeaderMap, http::header::InvalidHeaderValue>;

    /// The beginning of every request of this conversation.
    fn begin(&mut self, opening: &Opening<'_>, model: &Model, out: &mut Vec<u8>);

    /// Appends one message. Nothing that was appended before may need to change for it.
    fn push(&mut self, message: &Message, out: &mut Vec<u8>);

    /// What makes a whole request of it, after the last message.
    fn tail(&self) -> &'static [u8];
}

/// Reads one answer.
pub trait Decoder: Default + Send {
    fn event(&mut self, event: Event<'_>, pieces: &mut Vec<Piece>) -> Result<(), Trouble>;

    /// The answer of a server that does not stream.
    fn whole(&mut self, body: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Trouble>;
}
