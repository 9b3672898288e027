//! What a wire is: one provider's way of writing a conversation and of answering it. Both sides are pure; `remote` has the
//! network.

use http::HeaderMap;
use windlass_domain::{Message, Secret};

use crate::answer::Piece;
use crate::chat::Opening;
use crate::gallery::Picture;
use crate::models::Model;
use crate::wire::{Event, Trouble};

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

    /// Appends one message, which refers to these pictures. Nothing that was appended before may need to change for it.
    fn push(&mut self, message: &Message, pictures: &[Picture], out: &mut Vec<u8>);

    /// What makes a whole request of it, after the last message.
    fn tail(&self) -> &'static [u8];
}

/// Reads one answer.
pub trait Decoder: Default + Send {
    fn event(&mut self, event: Event<'_>, pieces: &mut Vec<Piece>) -> Result<(), Trouble>;

    /// The answer of a server that does not stream.
    fn whole(&mut self, body: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Trouble>;
}
