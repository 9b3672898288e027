//! Keeps the credential out of what an agent hears. No server has a reason to send it, and one that does anyway must not hand
//! it to a program in a sandbox; it is found wherever the portions of the answer were cut.

use bytes::Bytes;
use memchr::memmem;
use windlass_domain::Secret;

use crate::text::worth_hiding;

const INSTEAD: &[u8] = b"[key]";

pub struct Redactor {
    key: Vec<u8>,
    /// What may be the beginning of the key.
    held: Vec<u8>,
}

impl Redactor {
    pub fn new(key: Option<&Secret>) -> Self {
        let key = key.and_then(worth_hiding).unwrap_or_default().as_bytes().to_vec();
        Self { key, held: Vec::new() }
    }

    /// What may be passed on now.
    pub fn pass(&mut self, portion: Bytes) -> Bytes {
        if self.key.is_empty() {
            return portion;
        }
        let doubtful = self.beginning_at_the_end(&portion);
        if self.held.is_empty() && doubtful == 0 && memmem::find(&portion, &self.key).is_none() {
            return portion;
        }
        self.held.extend_from_slice(&portion);
        let mut clean = Vec::with_capacity(self.held.len());
        let mut rest = &self.held[..];
        while let Some(at) = memmem::find(rest, &self.key) {
            clean.extend_from_slice(&rest[..at]);
            clean.extend_from_slice(INSTEAD);
            rest = &rest[at + self.key.len()..];
        }
        let doubtful = self.beginning_at_the_end(rest);
        let (sure, doubtful) = rest.split_at(rest.len() - doubtful);
        clean.extend_from_slice(sure);
        self.held = doubtful.to_vec();
        clean.into()
    }

    /// The same for the last portion: nothing more comes, so that a beginning was none.
    pub fn last(&mut self, portion: Bytes) -> Bytes {
        let passed = self.pass(portion);
        [&passed[..], &std::mem::take(&mut self.held)].concat().into()
    }

    fn beginning_at_the_end(&self, text: &[u8]) -> usize {
        let longest = (self.key.len() - 1).min(text.len());
        (1..=longest).rev().find(|length| text.ends_with(&self.key[..*length])).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_found_however_the_answer_is_cut() {
        let key = Secret::new("abcabd-secret");
        let body = b"abcab abcabd-secret abcabd-abcabd-secretabcabd-secre";
        let expect = b"abcab [key] abcabd-[key]abcabd-secre";
        for one in 0..=body.len() {
            for other in one..=body.len() {
                let mut redactor = Redactor::new(Some(&key));
                let mut heard = Vec::new();
                for portion in [&body[..one], &body[one..other]] {
                    heard.extend_from_slice(&redactor.pass(Bytes::copy_from_slice(portion)));
                }
                heard.extend_from_slice(&redactor.last(Bytes::copy_from_slice(&body[other..])));
                assert_eq!(heard, expect, "cut at {one} and {other}");
            }
        }
    }

    #[test]
    fn what_is_no_secret_is_left_alone() {
        for key in [None, Some(Secret::new("x")), Some(Secret::new(""))] {
            let mut redactor = Redactor::new(key.as_ref());
            assert_eq!(redactor.pass(Bytes::from_static(b"xx")), Bytes::from_static(b"xx"));
            assert!(redactor.last(Bytes::new()).is_empty());
        }
    }
}
