//! What is kept of a command's output: its beginning and its end in the order they came, and a count of what was left out
//! in between. Errors stand at the end, and what led to them at the beginning.

use std::collections::VecDeque;

use crate::{Exit, Output, Status, Stream};

/// So far from a cut a better place for it is looked for, or through half of what was kept where that is less.
const SEAM: usize = 4 << 10;

pub(crate) struct Capture<'a> {
    watcher: Output<'a>,
    /// How much the watcher is still shown.
    room: usize,
    combined: Kept,
    stdout: Kept,
    stderr: Kept,
}

impl<'a> Capture<'a> {
    pub(crate) fn new(cap: usize, watcher: Output<'a>) -> Self {
        Self { watcher, room: cap, combined: Kept::new(cap), stdout: Kept::new(cap), stderr: Kept::new(cap) }
    }

    pub(crate) fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let seen = &bytes[..bytes.len().min(self.room)];
        self.room -= seen.len();
        if !seen.is_empty() {
            (self.watcher)(stream, seen);
        }
        self.combined.take(bytes);
        match stream {
            Stream::Stdout => self.stdout.take(bytes),
            Stream::Stderr => self.stderr.take(bytes),
        }
    }

    pub(crate) fn is_over_cap(&self) -> bool {
        self.combined.dropped > 0
    }

    pub(crate) fn into_exit(self, status: Status, duration: std::time::Duration) -> Exit {
        let (combined, dropped) = self.combined.into_bytes();
        let (stdout, _) = self.stdout.into_bytes();
        let (stderr, _) = self.stderr.into_bytes();
        Exit { status, combined, stdout, stderr, dropped, duration }
    }
}

/// The first and the last bytes of a stream, half of the cap each.
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_cap: usize,
    tail_cap: usize,
    dropped: u64,
}

impl Kept {
    fn new(cap: usize) -> Self {
        let tail_cap = cap / 2;
        Self { head: Vec::new(), tail: VecDeque::new(), head_cap: cap - tail_cap, tail_cap, dropped: 0 }
    }

    fn take(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_cap - self.head.len()));
        self.head.extend_from_slice(head);
        // What would not stay anyway is not put in.
        let (passing, staying) = rest.split_at(rest.len().saturating_sub(self.tail_cap));
        let making_room = (self.tail.len() + staying.len()).saturating_sub(self.tail_cap);
        self.tail.drain(..making_room);
        self.tail.extend(staying);
        self.dropped += (passing.len() + making_room) as u64;
    }

    /// With a line in the place of what was left out, and how much that was.
    fn into_bytes(self) -> (Vec<u8>, u64) {
        let Self { mut head, tail, dropped, .. } = self;
        let tail = Vec::from(tail);
        if dropped == 0 {
            head.extend(tail);
            return (head, 0);
        }
        let head_end = end_of_head(&head);
        let tail_start = start_of_tail(&tail);
        let dropped = dropped + (head.len() - head_end + tail_start) as u64;
        head.truncate(head_end);
        let separator = if head.is_empty() || head.ends_with(b"\n") { "" } else { "\n" };
        head.extend_from_slice(format!("{separator}[... {dropped} bytes left out ...]\n").as_bytes());
        head.extend_from_slice(&tail[tail_start..]);
        (head, dropped)
    }
}

/// Where to cut. Never in a line where there is another way: half a secret is one that nobody downstream recognises. In
/// a long line between words, in a long word at a bracket or the like, and between characters in any case.
fn end_of_head(head: &[u8]) -> usize {
    let window = head.len() - SEAM.min(head.len() / 2);
    let after = |wanted: fn(&u8) -> bool| head[window..].iter().rposition(wanted).map(|at| window + at + 1);
    let found = after(is_line_end).or_else(|| after(is_space)).or_else(|| after(is_delimiter));
    found.unwrap_or_else(|| head.len() - begun_character(head))
}

fn start_of_tail(tail: &[u8]) -> usize {
    let window = &tail[..SEAM.min(tail.len() / 2)];
    let after = |wanted: fn(&u8) -> bool| window.iter().position(wanted).map(|at| at + 1);
    let is_within = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let found = after(is_line_end).or_else(|| after(is_space)).or_else(|| after(is_delimiter));
    found.unwrap_or_else(|| tail.iter().take(3).take_while(is_within).count())
}

fn is_line_end(byte: &u8) -> bool {
    *byte == b'\n'
}

fn is_space(byte: &u8) -> bool {
    byte.is_ascii_whitespace()
}

/// What stands around a value in JSON and its like.
fn is_delimiter(byte: &u8) -> bool {
    b"\"',;&|<>(){}[]".contains(byte)
}

/// How many bytes at the end begin a character that goes on after them.
fn begun_character(bytes: &[u8]) -> usize {
    let last = &bytes[bytes.len() - bytes.len().min(3)..];
    match last.iter().rposition(|byte| byte & 0b1100_0000 == 0b1100_0000) {
        Some(at) if last[at].leading_ones() as usize > last.len() - at => last.len() - at,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(cap: usize, pieces: &[&[u8]]) -> Exit {
        let mut watcher = |_, _: &[u8]| {};
        let mut capture = Capture::new(cap, &mut watcher);
        pieces.iter().for_each(|piece| capture.take(Stream::Stdout, piece));
        capture.into_exit(Status::Code(0), std::time::Duration::ZERO)
    }

    #[test]
    fn keeps_both_ends_in_order_and_counts_the_middle() {
        let mut seen = Vec::new();
        let mut watcher = |stream, bytes: &[u8]| seen.push((stream, bytes.to_vec()));
        let mut capture = Capture::new(16, &mut watcher);
        capture.take(Stream::Stdout, b"one\ntwo\n");
        capture.take(Stream::Stderr, b"three\nfo");
        assert!(!capture.is_over_cap());
        capture.take(Stream::Stdout, b"ur\nfive\n");
        assert!(capture.is_over_cap());
        let exit = capture.into_exit(Status::Code(0), std::time::Duration::ZERO);
        assert_eq!(String::from_utf8_lossy(&exit.combined), "one\ntwo\n[... 11 bytes left out ...]\nfive\n");
        assert_eq!(exit.dropped, 11);
        assert_eq!(exit.stdout, b"one\ntwo\nur\nfive\n");
        assert_eq!(exit.stderr, b"three\nfo");
        let shown = [(Stream::Stdout, b"one\ntwo\n".to_vec()), (Stream::Stderr, b"three\nfo".to_vec())];
        assert_eq!(seen, shown, "the watcher sees the beginning");
    }

    #[test]
    fn what_fits_is_left_as_it_is() {
        for length in 0..=9 {
            let bytes = &b"abcdefghi"[..length];
            let exit = kept(9, &[&bytes[..length / 2], &bytes[length / 2..]]);
            assert_eq!((&exit.combined[..], exit.dropped), (bytes, 0));
        }
    }

    /// However it comes in pieces, and whatever the cap.
    #[test]
    fn every_byte_is_kept_or_counted() {
        let bytes: Vec<u8> = (0..200u8).map(|number| b'a' + number % 26).collect();
        for cap in 0..=210 {
            let whole = kept(cap, &[&bytes]);
            for size in [1, 2, 7, 64] {
                let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
                assert_eq!(kept(cap, &pieces), whole, "cap {cap}, in pieces of {size}");
            }
            let said = String::from_utf8(whole.combined).expect("text");
            let line = format!("\n[... {} bytes left out ...]\n", whole.dropped);
            let ends = said.replace(&line, "").replace(line.trim_start(), "");
            assert_eq!(ends.len() as u64 + whole.dropped, 200, "cap {cap}");
            assert!(ends.len() <= cap);
        }
    }

    #[test]
    fn neither_a_line_nor_a_word_nor_a_character_is_cut() {
        let said =
            |cap: usize, text: &str| String::from_utf8(kept(cap, &[text.as_bytes()]).combined).expect("whole text");
        let lines = "key=one\nkey=two\nkey=three\nkey=four\nkey=five\n";
        assert_eq!(said(26, lines), "key=one\n[... 27 bytes left out ...]\nkey=five\n");
        let words = "one two three four five six seven eight";
        assert_eq!(said(16, words), "one two \n[... 26 bytes left out ...]\neight");
        let json = r#"[{"key":"one"},{"key":"two"},{"key":"three"}]"#;
        assert_eq!(said(24, json), "[{\"key\":\"\n[... 26 bytes left out ...]\n:\"three\"}]");
        for cap in 0..60 {
            said(cap, &"a🦀é€".repeat(20));
        }
    }

    /// A secret that lies on the cut twice could otherwise be put together from the two ends.
    #[test]
    fn no_part_of_a_line_on_the_cut_is_kept() {
        let line = "token: correct-horse-battery-staple\n";
        for cap in 200..300 {
            let exit = kept(cap, &[line.repeat(100).as_bytes()]);
            let said = String::from_utf8(exit.combined).expect("text");
            let odd: Vec<&str> = said.lines().filter(|said| *said != line.trim_end()).collect();
            assert_eq!(odd.len(), 1, "{odd:?}");
        }
    }
}
