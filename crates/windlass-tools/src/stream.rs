//! Bytes that arrive in pieces, as text: a character cut in two by a pipe is put together again, and what is no UTF-8 is
//! shown as the replacement character.

#[derive(Debug, Default)]
pub(crate) struct TextStream {
    /// The beginning of a character, at most three bytes.
    pending: Vec<u8>,
}

impl TextStream {
    pub fn push(&mut self, bytes: &[u8], emit: &mut dyn FnMut(&str)) {
        self.pending.extend_from_slice(bytes);
        let whole = self.pending.len() - incomplete_tail(&self.pending);
        if whole > 0 {
            emit(&String::from_utf8_lossy(&self.pending[..whole]));
            self.pending.drain(..whole);
        }
    }

    pub fn finish(self, emit: &mut dyn FnMut(&str)) {
        if !self.pending.is_empty() {
            emit(&String::from_utf8_lossy(&self.pending));
        }
    }
}

/// How many bytes at the end begin a character that may yet be completed.
fn incomplete_tail(bytes: &[u8]) -> usize {
    for length in 1..=bytes.len().min(3) {
        let tail = &bytes[bytes.len() - length..];
        if tail[0] & 0b1100_0000 != 0b1000_0000 {
            return match std::str::from_utf8(tail) {
                Err(error) if error.error_len().is_none() => length,
                _ => 0,
            };
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_same_however_it_is_cut() {
        let bytes = "aé€🦀\n".bytes().chain([0xff, b'b', 0xe2, 0x82]).collect::<Vec<_>>();
        for size in 1..=bytes.len() {
            let mut text = String::new();
            let mut stream = TextStream::default();
            for piece in bytes.chunks(size) {
                stream.push(piece, &mut |part| text.push_str(part));
            }
            stream.finish(&mut |part| text.push_str(part));
            assert_eq!(text, String::from_utf8_lossy(&bytes), "in pieces of {size}");
        }
    }
}
