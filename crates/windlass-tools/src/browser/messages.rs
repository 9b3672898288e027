//! Messages that end in a zero byte, out of the pieces in which a pipe gives them. What is longer than anything a browser has to
//! say is not waited for.

pub(super) struct Messages {
    bytes: Vec<u8>,
    /// So far there is no end.
    searched: usize,
    longest: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Messages {
    pub const fn new(longest: usize) -> Self {
        Self { bytes: Vec::new(), searched: 0, longest }
    }

    pub fn feed(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
    }

    /// The next whole message, once it is there.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, TooLong> {
        let end = self.bytes[self.searched..].iter().position(|byte| *byte == 0).map(|at| at + self.searched);
        match end {
            Some(end) if end > self.longest => Err(TooLong),
            None if self.bytes.len() > self.longest => Err(TooLong),
            None => {
                self.searched = self.bytes.len();
                Ok(None)
            }
            Some(end) => {
                let rest = self.bytes.split_off(end + 1);
                let mut message = std::mem::replace(&mut self.bytes, rest);
                message.pop();
                self.searched = 0;
                Ok(Some(message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_the_same_however_they_are_cut() {
        let said = b"one\0\0two\0thr";
        for size in 1..=said.len() {
            let mut messages = Messages::new(10);
            let mut heard = Vec::new();
            for piece in said.chunks(size) {
                messages.feed(piece);
                while let Some(message) = messages.next().expect("short") {
                    heard.push(String::from_utf8(message).expect("text"));
                }
            }
            assert_eq!(heard, ["one", "", "two"], "in pieces of {size}");
        }
    }

    #[test]
    fn what_is_too_long_is_not_waited_for() {
        let mut messages = Messages::new(4);
        messages.feed(b"1234");
        assert_eq!(messages.next(), Ok(None));
        messages.feed(b"5");
        assert_eq!(messages.next(), Err(TooLong));
        let mut messages = Messages::new(4);
        messages.feed(b"12345\0");
        assert_eq!(messages.next(), Err(TooLong), "also when its end is there");
    }
}
