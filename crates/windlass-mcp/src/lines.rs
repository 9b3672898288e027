//! Lines out of bytes that arrive in any portions, none longer than agreed. Pure.

#[derive(Debug)]
pub struct Lines {
    bytes: Vec<u8>,
    /// Where to go on looking for an end.
    looked: usize,
    longest: usize,
}

/// A line is longer than agreed, whether or not its end has come.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

impl Lines {
    pub const fn new(longest: usize) -> Self {
        Self { bytes: Vec::new(), looked: 0, longest }
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line, without its end.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, TooLong> {
        let Some(end) = self.bytes[self.looked..].iter().position(|byte| *byte == b'\n') else {
            self.looked = self.bytes.len();
            return if self.looked > self.longest { Err(TooLong) } else { Ok(None) };
        };
        let end = self.looked + end;
        if end > self.longest {
            return Err(TooLong);
        }
        let rest = self.bytes.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.bytes, rest);
        line.truncate(end);
        self.looked = 0;
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_they_arrive() {
        let mut lines = Lines::new(10);
        lines.feed(b"a");
        assert_eq!(lines.next(), Ok(None));
        lines.feed(b"b\nc\n\nd");
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push(line);
        }
        assert_eq!(seen, [b"ab".to_vec(), b"c".to_vec(), Vec::new()]);
    }

    #[test]
    fn a_line_too_long_is_refused_before_its_end() {
        let mut lines = Lines::new(3);
        lines.feed(b"abc");
        assert_eq!(lines.next(), Ok(None));
        lines.feed(b"d");
        assert_eq!(lines.next(), Err(TooLong));
        let mut lines = Lines::new(3);
        lines.feed(b"abcd\n");
        assert_eq!(lines.next(), Err(TooLong));
    }
}
