//! Server-sent events out of bytes that arrive in any portions. Pure. Takes every line end there is, comments, fields it
//! does not know and a last event without its blank line; holds no more than one event.

use memchr::memchr2;

use crate::wire::Trouble;

/// No single event of any provider comes near it.
const LONGEST_EVENT: usize = 16 << 20;

#[derive(Debug, Default)]
pub struct Parser {
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    data: Vec<u8>,
    name: String,
    has_data: bool,
    /// A `\r` ended the last portion: a `\n` right after it belongs to it.
    after_return: bool,
    seen_any: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Event<'a> {
    pub name: &'a str,
    pub data: &'a [u8],
}

impl Parser {
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        on_event: &mut impl FnMut(Event<'_>) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        if std::mem::take(&mut self.after_return) && bytes.first() == Some(&b'\n') {
            bytes = &bytes[1..];
        }
        while let Some(end) = memchr2(b'\n', b'\r', bytes) {
            let line = &bytes[..end];
            if self.line.is_empty() {
                self.take_line(line, on_event)?;
            } else {
                self.line.extend_from_slice(line);
                let whole = std::mem::take(&mut self.line);
                self.take_line(&whole, on_event)?;
            }
            let is_pair = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
            self.after_return = bytes[end] == b'\r' && end + 1 == bytes.len();
            bytes = &bytes[end + if is_pair { 2 } else { 1 }..];
        }
        self.line.extend_from_slice(bytes);
        self.check_size()
    }

    /// The connection has ended properly: what is there is all there will be.
    pub fn finish(&mut self, on_event: &mut impl FnMut(Event<'_>) -> Result<(), Trouble>) -> Result<(), Trouble> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line, on_event)?;
        }
        self.dispatch(on_event)
    }

    fn take_line(
        &mut self,
        line: &[u8],
        on_event: &mut impl FnMut(Event<'_>) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let first = !std::mem::replace(&mut self.seen_any, true);
        let line = line.strip_prefix(b"\xEF\xBB\xBF").filter(|_| first).unwrap_or(line);
        if line.is_empty() {
            return self.dispatch(on_event);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..])),
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
                self.check_size()?;
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, on_event: &mut impl FnMut(Event<'_>) -> Result<(), Trouble>) -> Result<(), Trouble> {
        let result = match std::mem::take(&mut self.has_data) {
            true => on_event(Event { name: &self.name, data: &self.data }),
            false => Ok(()),
        };
        self.data.clear();
        self.name.clear();
        result
    }

    fn check_size(&self) -> Result<(), Trouble> {
        if self.line.len().max(self.data.len()) > LONGEST_EVENT {
            return Err(Trouble::TooLong { limit: LONGEST_EVENT });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(portions: &[&[u8]]) -> Vec<(String, String)> {
        let mut parser = Parser::default();
        let mut seen = Vec::new();
        let mut take = |event: Event<'_>| {
            seen.push((event.name.to_owned(), String::from_utf8_lossy(event.data).into_owned()));
            Ok(())
        };
        for portion in portions {
            parser.feed(portion, &mut take).expect("short");
        }
        parser.finish(&mut take).expect("short");
        seen
    }

    const NASTY: &[u8] =
        b"\xEF\xBB\xBF: ping\n\ndata: one\r\n\r\nevent: x\rdata:two\rdata: more\r\rid: 7\nretry: 5\nwhat\n\n\
        event: lost\n\ndata\n\ndata: \xE2\x82\xAC\n\ndata: last";

    fn expected() -> Vec<(String, String)> {
        [("", "one"), ("x", "two\nmore"), ("", ""), ("", "€"), ("", "last")]
            .map(|(name, data)| (name.to_owned(), data.to_owned()))
            .to_vec()
    }

    #[test]
    fn comments_line_ends_and_unknown_fields() {
        assert_eq!(events(&[NASTY]), expected());
    }

    #[test]
    fn portions_do_not_matter() {
        for split in 0..=NASTY.len() {
            let (before, after) = NASTY.split_at(split);
            assert_eq!(events(&[before, after]), expected(), "split at {split}");
        }
        let bytes = NASTY.chunks(1).collect::<Vec<_>>();
        assert_eq!(events(&bytes), expected());
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut parser = Parser::default();
        let portion = vec![b'x'; 1 << 20];
        let result = (0..17).try_for_each(|_| parser.feed(&portion, &mut |_| Ok(())));
        assert!(matches!(result, Err(Trouble::TooLong { .. })));
    }
}
