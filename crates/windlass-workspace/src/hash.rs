//! SHA-256 of what is too large to hold: the digest of a stream, and of a stream while it is copied.

use std::fs::File;
use std::io::{self, Read, Write};

use sha2::{Digest as _, Sha256};
use windlass_domain::Digest;

use crate::stream::{Cut, ShouldStop, pour};

pub(crate) fn of_file(file: &mut File, should_stop: ShouldStop<'_>) -> Result<Digest, Cut> {
    copy(file, &mut io::sink(), should_stop).map(|(digest, _)| digest)
}

/// Copies all of `from`, and says what it was and how long.
pub(crate) fn copy(
    from: &mut impl Read,
    to: &mut impl Write,
    should_stop: ShouldStop<'_>,
) -> Result<(Digest, u64), Cut> {
    let mut hasher = Sha256::new();
    let mut length = 0_u64;
    pour(from, to, should_stop, |piece| {
        hasher.update(piece);
        length += piece.len() as u64;
    })?;
    Ok((finish(hasher), length))
}

fn finish(hasher: Sha256) -> Digest {
    let hex: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    hex.parse().expect("a hash in hex is a digest")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_the_digest_of_its_bytes() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        let mut copied = Vec::new();
        let (digest, length) = copy(&mut bytes.as_slice(), &mut copied, ShouldStop::NEVER).unwrap();
        assert_eq!((digest, length), (Digest::of(&bytes), 300_000));
        assert_eq!(copied, bytes);
    }
}
