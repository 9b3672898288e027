//! A region that goes on for as long as its letters do, byte by byte, so that a secret of any length needs no memory.

use super::escape::Rest;

/// Which letters a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Capital letters and digits.
    Upper,
    /// Letters, digits, `_` and `-`.
    Dashed,
    /// `Dashed` and `.`.
    Dotted,
    /// What may follow an authentication scheme.
    Token68,
}

impl Alphabet {
    pub fn has(self, byte: u8) -> bool {
        match self {
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => Self::Dashed.has(byte) || byte == b'.',
            Self::Token68 => Self::Dotted.has(byte) || matches!(byte, b'~' | b'+' | b'/' | b'='),
        }
    }
}

/// What is still to come of a region; small and comparable, because two that are equal at one place stay equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    /// This many bytes more, whatever they are.
    Bytes(usize),
    Token(Alphabet),
    Key(KeyBlock),
    /// The rest of a backslash escape that must not be cut.
    Escape(Rest),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Inside(Run),
    /// The byte is the region's last.
    EndsAfter,
    /// The byte is no longer part of the region.
    EndsBefore,
}

impl Run {
    pub fn step(self, byte: u8) -> Step {
        match self {
            Self::Bytes(0) => Step::EndsBefore,
            Self::Bytes(1) => Step::EndsAfter,
            Self::Bytes(left) => Step::Inside(Self::Bytes(left - 1)),
            Self::Token(alphabet) if alphabet.has(byte) => Step::Inside(self),
            Self::Token(_) => Step::EndsBefore,
            Self::Key(block) => block.step(byte),
            Self::Escape(rest) => rest.step(byte),
        }
    }
}

/// A private key block: up to the dashes that end `-----END … KEY-----`, the fourth row of them, or as far as it looks like
/// one. Line numbers, quoting and diff marks at the beginnings of lines are part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyBlock {
    dashes: u8,
    fences: u8,
    left: u32,
}

impl KeyBlock {
    /// Longer than any key in use.
    const MOST_BYTES: u32 = 32 * 1024;
    const FENCE: u8 = 5;

    pub const BEGINNING: Self = Self { dashes: 0, fences: 0, left: Self::MOST_BYTES };

    fn step(self, byte: u8) -> Step {
        let belongs = Alphabet::Token68.has(byte) || byte.is_ascii_whitespace() || b"\\:,|>#()".contains(&byte);
        if !belongs || self.left == 0 {
            return Step::EndsBefore;
        }
        let dashes = if byte == b'-' { self.dashes + 1 } else { 0 };
        let (dashes, fences) = if dashes == Self::FENCE { (0, self.fences + 1) } else { (dashes, self.fences) };
        if fences == 4 {
            return Step::EndsAfter;
        }
        Step::Inside(Run::Key(Self { dashes, fences, left: self.left - 1 }))
    }
}
