//! The pieces of a rope as a request body of known length.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

#[derive(Debug)]
pub struct RopeBody {
    pieces: std::vec::IntoIter<Bytes>,
    remaining: u64,
}

impl RopeBody {
    pub fn new(pieces: Vec<Bytes>) -> Self {
        let remaining = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self { pieces: pieces.into_iter(), remaining }
    }
}

impl Body for RopeBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.next();
        self.remaining -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.remaining == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.remaining)
    }
}
