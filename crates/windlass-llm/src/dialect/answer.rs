//! Answers in any of the languages.

use crate::answer::Piece;
use crate::dialect::{About, Dialect, chat, messages, responses};

/// An answer that is written while it comes. The bill, where it is known before the words, comes first.
pub enum Encoder {
    Chat(chat::Stream),
    Responses(responses::Stream),
    Messages(messages::Stream),
}

impl Encoder {
    pub fn new(dialect: Dialect, about: About) -> Self {
        match dialect {
            Dialect::Chat => Self::Chat(chat::Stream::new(about)),
            Dialect::Responses => Self::Responses(responses::Stream::new(about)),
            Dialect::Messages => Self::Messages(messages::Stream::new(about)),
        }
    }

    pub fn write(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        match self {
            Self::Chat(stream) => stream.write(piece, out),
            Self::Responses(stream) => stream.write(piece, out),
            Self::Messages(stream) => stream.write(piece, out),
        }
    }

    /// What comes before the first word.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        match self {
            Self::Chat(stream) => stream.begin(out),
            Self::Responses(stream) => stream.begin(out),
            Self::Messages(stream) => stream.begin(out),
        }
    }

    /// A sign of life that says nothing.
    pub fn ping(&mut self, out: &mut Vec<u8>) {
        self.begin(out);
        match self {
            Self::Chat(_) | Self::Responses(_) => out.extend_from_slice(b": still thinking\n\n"),
            Self::Messages(_) => out.extend_from_slice(b"event: ping\ndata: {\"type\":\"ping\"}\n\n"),
        }
    }

    /// The answer ends here, and not well.
    pub fn fail(&mut self, kind: &str, message: &str, out: &mut Vec<u8>) {
        self.begin(out);
        match self {
            Self::Chat(_) => chat::fail(kind, message, out),
            Self::Responses(stream) => stream.fail(kind, message, out),
            Self::Messages(_) => messages::fail(kind, message, out),
        }
    }
}

/// All the events of an answer that is known already.
pub fn stream(dialect: Dialect, pieces: &[Piece], about: About) -> Vec<u8> {
    let mut encoder = Encoder::new(dialect, about);
    let mut out = Vec::with_capacity(1024);
    pieces.iter().for_each(|piece| encoder.write(piece, &mut out));
    encoder.begin(&mut out);
    out
}

pub fn whole(dialect: Dialect, pieces: &[Piece], about: &About) -> Vec<u8> {
    match dialect {
        Dialect::Chat => chat::whole(pieces, about),
        Dialect::Responses => responses::whole(pieces, about),
        Dialect::Messages => messages::whole(pieces, about),
    }
}
