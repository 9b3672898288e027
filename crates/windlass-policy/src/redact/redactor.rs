//! The redactor: built once from the secrets the runtime was told, then shared by everything that writes. It says nothing
//! about itself when printed, since what it holds is what must not be seen.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use windlass_domain::Secret;

use super::known::Known;
use super::shapes::Shapes;
use super::stream::Stream;

#[derive(Clone)]
pub struct Redactor(Arc<Detectors>);

struct Detectors {
    known: Known,
    shapes: Shapes,
}

impl Redactor {
    /// Secrets of fewer than `MIN_SECRET_BYTES` bytes are not looked for: tell whoever set one.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        Self(Arc::new(Detectors { known: Known::new(secrets), shapes: Shapes::new() }))
    }

    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.replaced(text.as_bytes()) {
            None => Cow::Borrowed(text),
            Some(bytes) => Cow::Owned(utf8(bytes)),
        }
    }

    pub fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        self.replaced(bytes).map_or(Cow::Borrowed(bytes), Cow::Owned)
    }

    /// Redacts inside the strings of a JSON document and nowhere else: it stays the same document, with the same numbers,
    /// whatever the secrets are. For text that only may be JSON, use `redact`.
    pub fn redact_json<'t>(&self, json: &'t str) -> Cow<'t, str> {
        if !self.has_candidate(json.as_bytes()) {
            return Cow::Borrowed(json);
        }
        let mut redacted = String::with_capacity(json.len());
        let mut rest = json;
        while let Some(quote) = rest.find('"') {
            let (outside, string) = rest.split_at(quote + 1);
            let (inside, after) = string.split_at(string_end(string));
            redacted += outside;
            redacted += &self.redact(inside);
            // The closing quote is not the beginning of another string.
            let closing = after.len().min(1);
            redacted += &after[..closing];
            rest = &after[closing..];
        }
        redacted += rest;
        Cow::Owned(redacted)
    }

    /// A text that arrives in pieces.
    pub fn stream(&self) -> Stream {
        Stream::new(self.clone())
    }

    fn replaced(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.has_candidate(bytes).then(|| Stream::whole(self.clone(), bytes)).flatten()
    }

    fn has_candidate(&self, bytes: &[u8]) -> bool {
        self.known().find(bytes, 0).is_some() || self.shapes().find(bytes, 0).is_some()
    }

    pub(super) fn known(&self) -> &Known {
        &self.0.known
    }

    pub(super) fn shapes(&self) -> &Shapes {
        &self.0.shapes
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

fn utf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("regions begin and end beside ASCII or at the ends of a secret, which is text")
}

/// Where the closing quote of a JSON string stands, or where the text ends.
fn string_end(string: &str) -> usize {
    let mut escaped = false;
    let closing = string.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    closing.unwrap_or(string.len())
}
