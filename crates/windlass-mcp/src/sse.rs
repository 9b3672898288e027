//! The messages in a stream of server-sent events, as they arrive: the data of each event, other fields and comments aside. Pure.

use crate::lines::{Lines, TooLong};

#[derive(Debug)]
pub struct Events {
    lines: Lines,
    /// Of the event that is being read.
    data: Option<Vec<u8>>,
    longest: usize,
}

impl Events {
    pub const fn new(longest: usize) -> Self {
        Self { lines: Lines::new(longest), data: None, longest }
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        self.lines.feed(bytes);
    }

    /// The next whole event that holds something.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, TooLong> {
        while let Some(line) = self.lines.next()? {
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            if line.is_empty() {
                if let Some(message) = self.data.take() {
                    return Ok(Some(message));
                }
            } else if let Some(value) = line.strip_prefix(b"data:") {
                self.add(value.strip_prefix(b" ").unwrap_or(value))?;
            }
        }
        Ok(None)
    }

    fn add(&mut self, value: &[u8]) -> Result<(), TooLong> {
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) if data.len() + value.len() >= self.longest => return Err(TooLong),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &[u8], portion: usize) -> Vec<Vec<u8>> {
        let mut events = Events::new(100);
        let mut messages = Vec::new();
        for bytes in body.chunks(portion) {
            events.feed(bytes);
            while let Some(message) = events.next().unwrap() {
                messages.push(message);
            }
        }
        messages
    }

    #[test]
    fn the_data_of_each_event_however_it_arrives() {
        let body =
            b": hello\r\nevent: message\r\nid: 1\r\ndata: {\"a\":\r\ndata:1}\r\n\r\nretry: 5\n\ndata: 2\n\ndata: half";
        for portion in 1..=body.len() {
            assert_eq!(read(body, portion), [b"{\"a\":\n1}".to_vec(), b"2".to_vec()], "{portion}");
        }
    }

    #[test]
    fn an_event_of_many_lines_has_an_end_too() {
        let mut events = Events::new(10);
        events.feed(b"data: 123456\ndata: 123456\n");
        assert_eq!(events.next(), Err(TooLong));
    }
}
