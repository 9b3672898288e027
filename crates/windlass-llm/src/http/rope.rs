//! A request body that only grows: what was rendered stays as it is and is sent again by reference, so that a call costs
//! the same at the two-thousandth message as at the second, but for the bytes themselves.

use bytes::Bytes;

use crate::http::head::shared;

/// Small messages are gathered into pieces of this size: few enough pieces to send, little enough to copy for a call.
const PIECE: usize = 16 << 10;

#[derive(Debug)]
pub struct Rope {
    sealed: Vec<Bytes>,
    open: Vec<u8>,
}

impl Rope {
    /// `write` gives what every request of the conversation begins with.
    pub fn beginning(write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut head = Vec::new();
        write(&mut head);
        Self { sealed: vec![shared(&head)], open: Vec::new() }
    }

    pub fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.open);
        if self.open.len() >= PIECE {
            self.sealed.push(std::mem::take(&mut self.open).into_boxed_slice().into());
        }
    }

    /// Everything so far, and `tail` after it.
    pub fn pieces(&self, tail: &[u8]) -> Vec<Bytes> {
        let mut last = Vec::with_capacity(self.open.len() + tail.len());
        last.extend_from_slice(&self.open);
        last.extend_from_slice(tail);
        let mut pieces = Vec::with_capacity(self.sealed.len() + 1);
        pieces.extend_from_slice(&self.sealed);
        pieces.push(last.into());
        pieces
    }
}
