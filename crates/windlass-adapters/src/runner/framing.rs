//! A program's output cut into frames, and frames made ready to be written. What is longer than any program has reason for is
//! dropped and said to be.

use crate::Framing;

/// Of one frame. Programs put whole files into theirs.
const LONGEST: usize = 16 << 20;
/// Of a head with `Content-Length`.
const LONGEST_HEAD: usize = 4 << 10;
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    Whole(Vec<u8>),
    /// One that was too long, or bytes that no frame begins with.
    Lost,
}

pub struct Frames {
    framing: Framing,
    /// What has come and is not whole.
    rest: Vec<u8>,
    /// The rest of something too long is on its way.
    is_skipping: bool,
}

impl Frames {
    pub const fn new(framing: Framing) -> Self {
        Self { framing, rest: Vec::new(), is_skipping: false }
    }

    pub fn push(&mut self, bytes: &[u8]) -> Vec<Frame> {
        match self.framing {
            Framing::Lines => self.lines(bytes),
            Framing::ContentLength => self.headed(bytes),
        }
    }

    fn lines(&mut self, mut bytes: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, after) = (&bytes[..end], &bytes[end + 1..]);
            bytes = after;
            let too_long = self.is_skipping || self.rest.len() + line.len() > LONGEST;
            let mut whole = std::mem::take(&mut self.rest);
            self.is_skipping = false;
            if too_long {
                frames.push(Frame::Lost);
                continue;
            }
            whole.extend_from_slice(line);
            if !whole.trim_ascii().is_empty() {
                frames.push(Frame::Whole(whole));
            }
        }
        if self.rest.len() + bytes.len() > LONGEST {
            self.rest.clear();
            self.is_skipping = true;
        } else if !self.is_skipping {
            self.rest.extend_from_slice(bytes);
        }
        frames
    }

    fn headed(&mut self, bytes: &[u8]) -> Vec<Frame> {
        self.rest.extend_from_slice(bytes);
        let mut frames = Vec::new();
        loop {
            let Some(end) = find(&self.rest, END_OF_HEAD) else {
                if self.rest.len() > LONGEST_HEAD {
                    self.rest.clear();
                    frames.push(Frame::Lost);
                }
                return frames;
            };
            let begin = end + END_OF_HEAD.len();
            match content_length(&self.rest[..end]) {
                Some(length) if length <= LONGEST && self.rest.len() >= begin + length => {
                    frames.push(Frame::Whole(self.rest[begin..begin + length].to_vec()));
                    self.rest.drain(..begin + length);
                }
                Some(length) if length <= LONGEST => return frames,
                // Where the next one begins nobody can tell: what comes after is read as if it were it.
                _ => {
                    self.rest.drain(..begin);
                    frames.push(Frame::Lost);
                }
            }
        }
    }
}

/// A frame as the program reads it.
pub fn framed(framing: Framing, frame: &[u8]) -> Vec<u8> {
    match framing {
        Framing::Lines => [frame, b"\n"].concat(),
        Framing::ContentLength => [format!("Content-Length: {}\r\n\r\n", frame.len()).as_bytes(), frame].concat(),
    }
}

fn content_length(head: &[u8]) -> Option<usize> {
    let head = std::str::from_utf8(head).ok()?;
    let value = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-length").then(|| value.trim())
    });
    value?.parse().ok()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(framing: Framing, pieces: &[&str], expected: &[Option<&str>]) {
        let mut frames = Frames::new(framing);
        let got: Vec<Frame> = pieces.iter().flat_map(|piece| frames.push(piece.as_bytes())).collect();
        let whole = |frame: &Option<&str>| frame.map_or(Frame::Lost, |text| Frame::Whole(text.as_bytes().to_vec()));
        assert_eq!(got, expected.iter().map(whole).collect::<Vec<_>>(), "{pieces:?}");
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        check(
            Framing::Lines,
            &["{\"a\":1}\n{\"b\"", ":2}", "\n\r\n\n", "half"],
            &[Some("{\"a\":1}"), Some("{\"b\":2}")],
        );
        let long = "x".repeat(LONGEST + 1);
        check(Framing::Lines, &[&long, "rest\nnext\n"], &[None, Some("next")]);
        check(Framing::Lines, &[&format!("{long}\n"), "next\n"], &[None, Some("next")]);
    }

    #[test]
    fn heads_say_how_long_a_frame_is() {
        let two = "Content-Length: 2\r\n\r\n{}content-length:3\r\nX: y\r\n\r\nabc";
        check(Framing::ContentLength, &[two], &[Some("{}"), Some("abc")]);
        for cut in 1..two.len() {
            check(Framing::ContentLength, &[&two[..cut], &two[cut..]], &[Some("{}"), Some("abc")]);
        }
        check(Framing::ContentLength, &["Content-Length: x\r\n\r\nContent-Length: 1\r\n\r\na"], &[None, Some("a")]);
        check(Framing::ContentLength, &[&"y".repeat(LONGEST_HEAD + 1)], &[None]);
    }
}
