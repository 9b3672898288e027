//! Backslash escapes, as JSON has them: a backslash and a letter, or `\u` and four hex digits. Taking a region out of a
//! serialised string must not leave half of one, so regions are widened to the whole. In text that is not JSON this costs
//! a few characters beside a secret.

use super::run::{Run, Step};

/// The longest escape, `\u0000`.
pub(super) const LONGEST: usize = 6;

/// Whether the byte before a text is a backslash that begins an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Before {
    #[default]
    Closed,
    Opened,
}

impl Before {
    /// The same question for the text from `at` on.
    pub fn moved(self, text: &[u8], at: usize) -> Self {
        let slashes = text[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        // Backslashes close each other in pairs; only an unbroken row reaches back to what came before.
        let odd = (slashes % 2 == 1) != (slashes == at && self == Self::Opened);
        if odd { Self::Opened } else { Self::Closed }
    }
}

/// Where the escape begins that a cut at `at` would break, if there is one.
pub(super) fn cut_by(text: &[u8], before: Before, at: usize) -> Option<usize> {
    let nearest = at.saturating_sub(LONGEST - 1)..at;
    nearest.rev().find(|start| {
        text[*start] == b'\\'
            && before.moved(text, *start) == Before::Closed
            && Rest::after(&text[*start..at]).is_some()
    })
}

/// What of an escape is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    Letter,
    Digits(u8),
}

impl Rest {
    /// After these first bytes of an escape; nothing when it is already whole.
    pub fn after(bytes: &[u8]) -> Option<Self> {
        let mut rest = Self::Letter;
        for byte in &bytes[1..] {
            match rest.step(*byte) {
                Step::Inside(Run::Escape(next)) => rest = next,
                _ => return None,
            }
        }
        Some(rest)
    }

    pub fn step(self, byte: u8) -> Step {
        match self {
            Self::Letter if byte == b'u' => Step::Inside(Run::Escape(Self::Digits(4))),
            // No escape has a letter outside ASCII, and half of one must not be taken.
            Self::Letter if !byte.is_ascii() => Step::EndsBefore,
            Self::Letter => Step::EndsAfter,
            Self::Digits(_) if !byte.is_ascii_hexdigit() => Step::EndsBefore,
            Self::Digits(1) => Step::EndsAfter,
            Self::Digits(left) => Step::Inside(Run::Escape(Self::Digits(left - 1))),
        }
    }
}
