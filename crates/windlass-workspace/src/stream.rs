//! Bytes on their way from one file into another, piece by piece: whoever waits can stop it between two of them. Blocks of
//! zeros are not written but left out, so that a file of holes, which costs its author nothing, costs nothing here either.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;

use crate::error::Error;

const PIECE: usize = 128 * 1024;

/// What a hole is made of; no file system has smaller ones.
const BLOCK: usize = 4096;

const ZEROS: [u8; BLOCK] = [0; BLOCK];

/// Asked before every file and every piece of one: whether somebody wants the work to end.
#[derive(Clone, Copy)]
pub(crate) struct ShouldStop<'a>(pub &'a dyn Fn() -> bool);

impl ShouldStop<'_> {
    /// For work that is short, or that nobody can stop.
    pub const NEVER: ShouldStop<'static> = ShouldStop(&|| false);

    pub fn heed(self) -> Result<(), Error> {
        if self.0() { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// Why a stream ended before its end.
#[derive(Debug)]
pub(crate) enum Cut {
    Stopped,
    Io(io::Error),
}

impl Cut {
    pub fn at(self, path: impl Into<String>) -> Error {
        match self {
            Self::Stopped => Error::Stopped,
            Self::Io(error) => Error::from_io(path, error),
        }
    }
}

impl From<io::Error> for Cut {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// All of `from` into `to`, each piece shown to `see` on its way.
pub(crate) fn pour(
    from: &mut impl Read,
    to: &mut impl Write,
    should_stop: ShouldStop<'_>,
    mut see: impl FnMut(&[u8]),
) -> Result<(), Cut> {
    let mut piece = vec![0_u8; PIECE];
    loop {
        if should_stop.0() {
            return Err(Cut::Stopped);
        }
        let read = match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        see(&piece[..read]);
        to.write_all(&piece[..read])?;
    }
}

/// Writes into a new, empty file and leaves holes where the zeros are. Without `finish`, zeros at the end are missing.
pub(crate) struct Sparse<'a> {
    file: &'a File,
    length: u64,
    /// How long the file is so far.
    written: u64,
}

impl<'a> Sparse<'a> {
    pub const fn new(file: &'a File) -> Self {
        Self { file, length: 0, written: 0 }
    }

    pub fn finish(self) -> io::Result<()> {
        if self.written == self.length { Ok(()) } else { self.file.set_len(self.length) }
    }

    /// How many bytes of `bytes`, at the place where they are to stand, are up to the end of a block.
    fn block<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let into = usize::try_from(self.length % BLOCK as u64).expect("a block is small");
        &bytes[..bytes.len().min(BLOCK - into)]
    }
}

impl Write for Sparse<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let block = self.block(bytes);
        let written = match *block == ZEROS[..block.len()] {
            true => block.len(),
            // All that follows up to the next block of zeros, in one call.
            false => {
                let whole = bytes[block.len()..].chunks(BLOCK).take_while(|next| **next != ZEROS[..next.len()]);
                let length = block.len() + whole.map(<[u8]>::len).sum::<usize>();
                let written = self.file.write_at(&bytes[..length], self.length)?;
                self.written = self.length + written as u64;
                written
            }
        };
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn written(pieces: &[&[u8]]) -> (Vec<u8>, u64) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut sparse = Sparse::new(file.as_file());
        pieces.iter().for_each(|piece| sparse.write_all(piece).unwrap());
        sparse.finish().unwrap();
        file.as_file().sync_all().unwrap();
        (std::fs::read(file.path()).unwrap(), file.as_file().metadata().unwrap().blocks() * 512)
    }

    #[test]
    fn what_is_written_is_what_was_given_wherever_the_zeros_are() {
        let zeros = vec![0; 3 * BLOCK + 5];
        let ones = vec![1; BLOCK + 7];
        let cases: [&[&[u8]]; 7] = [
            &[],
            &[b"a"],
            &[&zeros],
            &[&ones, &zeros],
            &[&zeros, &ones],
            &[b"\0", &zeros, b"\0a\0", &zeros, &ones, b"\0\0"],
            &[&zeros[..BLOCK - 1], b"a", &zeros[..BLOCK], &ones[..BLOCK]],
        ];
        for case in cases {
            assert_eq!(written(case).0, case.concat());
        }
    }

    #[test]
    fn zeros_take_no_place() {
        let zeros = vec![0; 4 << 20];
        let (bytes, allocated) = written(&[&zeros, b"a", &zeros]);
        assert_eq!(bytes.len(), (8 << 20) + 1);
        assert!(allocated < 1 << 20, "{allocated}");
    }

    #[test]
    fn a_stream_ends_between_two_pieces() {
        let asked = Cell::new(0);
        let soon = || asked.replace(asked.get() + 1) == 3;
        let mut seen = 0;
        let cut = pour(&mut io::repeat(7), &mut io::sink(), ShouldStop(&soon), |piece| seen += piece.len());
        assert!(matches!(cut, Err(Cut::Stopped)));
        assert_eq!(seen, 3 * PIECE);
    }
}
