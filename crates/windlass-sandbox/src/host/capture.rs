//! What is kept of a command's output: the first bytes up to a cap, in the order they came, and a count of the rest.

use crate::{Exit, Output, Status, Stream};

pub(crate) struct Capture<'a> {
    watcher: Output<'a>,
    room: usize,
    combined: Vec<u8>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    dropped: u64,
}

impl<'a> Capture<'a> {
    pub(crate) fn new(cap: usize, watcher: Output<'a>) -> Self {
        Self { watcher, room: cap, combined: Vec::new(), stdout: Vec::new(), stderr: Vec::new(), dropped: 0 }
    }

    pub(crate) fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let (kept, beyond) = bytes.split_at(bytes.len().min(self.room));
        self.room -= kept.len();
        self.dropped += beyond.len() as u64;
        if kept.is_empty() {
            return;
        }
        (self.watcher)(stream, kept);
        self.combined.extend_from_slice(kept);
        match stream {
            Stream::Stdout => self.stdout.extend_from_slice(kept),
            Stream::Stderr => self.stderr.extend_from_slice(kept),
        }
    }

    pub(crate) fn is_over_cap(&self) -> bool {
        self.dropped > 0
    }

    pub(crate) fn into_exit(self, status: Status, duration: std::time::Duration) -> Exit {
        Exit {
            status,
            combined: self.combined,
            stdout: self.stdout,
            stderr: self.stderr,
            dropped: self.dropped,
            duration,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_first_bytes_in_order_and_counts_the_rest() {
        let mut seen = Vec::new();
        let mut watcher = |stream, bytes: &[u8]| seen.push((stream, bytes.to_vec()));
        let mut capture = Capture::new(7, &mut watcher);
        capture.take(Stream::Stdout, b"one ");
        assert!(!capture.is_over_cap());
        capture.take(Stream::Stderr, b"two three");
        capture.take(Stream::Stdout, b"four");
        assert!(capture.is_over_cap());
        let exit = capture.into_exit(Status::Code(0), std::time::Duration::ZERO);
        assert_eq!(exit.combined, b"one two");
        assert_eq!((&exit.stdout[..], &exit.stderr[..]), (&b"one "[..], &b"two"[..]));
        assert_eq!(exit.dropped, 10);
        assert_eq!(seen, [(Stream::Stdout, b"one ".to_vec()), (Stream::Stderr, b"two".to_vec())]);
    }
}
