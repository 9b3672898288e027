//! SHA-256 of what is too large to hold: the digest of a stream, and of a stream while it is copied.

use std::fs::File;
use std::io::{self, Read, Write};

use sha2::{Digest as _, Sha256};
use windlass_domain::Digest;

const CHUNK: usize = 128 * 1024;

pub(crate) fn of_file(file: &mut File) -> io::Result<Digest> {
    copy(file, &mut io::sink()).map(|(digest, _)| digest)
}

/// Copies all of `from`, and says what it was and how long.
pub(crate) fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<(Digest, u64)> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0_u8; CHUNK];
    let mut length = 0_u64;
    loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&chunk[..read]);
        to.write_all(&chunk[..read])?;
        length += read as u64;
    }
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
        let (digest, length) = copy(&mut bytes.as_slice(), &mut copied).unwrap();
        assert_eq!((digest, length), (Digest::of(&bytes), 300_000));
        assert_eq!(copied, bytes);
    }
}
