//! What the providers' HTTP interfaces have in common: a `Wire` renders messages and reads answers in one of them, purely;
//! `Remote` is a provider that speaks it over a pool of connections.

mod anthropic;
mod base64;
mod fault;
mod json;
mod language;
mod openai;
mod part;
mod reader;
mod remote;
mod responses;
mod sse;

pub use anthropic::Anthropic;
pub use base64::{base64, from_base64};
pub use fault::{Asker, Fault, Trouble};
pub use json::{object_arguments, raw, secret_header, string, value};
pub use language::{Decoder, Wire};
pub use openai::OpenAi;
pub use reader::{Hear, Reader, reader_of};
pub use remote::Endpoint;
pub use responses::Responses;
pub use sse::{Event, Parser};
