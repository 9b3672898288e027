//! Server-sent events: what is read of a stream, event by event. It ends when the server ends it or is silent for too long; whoever
//! wants more asks again from the last position that they know.

use std::sync::Arc;
use std::time::Duration;

use super::answer::Answer;
use super::surroundings::within;
use super::{Error, Surroundings};

/// The server says something every 15 seconds.
const SILENCE: Duration = Duration::from_secs(60);
const MOST_BYTES: usize = 64 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// Where it stands; what has no number of its own goes by the last that was said.
    pub id: u64,
    /// `record`, unless it says otherwise.
    pub kind: String,
    pub data: String,
}

pub struct Events {
    answer: Answer,
    lines: Lines,
    server: String,
    around: Arc<dyn Surroundings>,
}

impl Events {
    pub(super) fn new(answer: Answer, server: String, around: Arc<dyn Surroundings>) -> Self {
        Self { answer, lines: Lines::default(), server, around }
    }

    /// None: the server has ended it.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            if let Some(event) = self.lines.event() {
                return Ok(Some(event));
            }
            let heard = within(self.around.as_ref(), SILENCE, self.answer.next()).await;
            let heard = heard.ok_or_else(|| Error::Slow { server: self.server.clone(), seconds: SILENCE.as_secs() })?;
            let broken = |error: hyper::Error| Error::Broken { server: self.server.clone(), why: error.to_string() };
            let Some(portion) = heard.map_err(broken)? else { return Ok(None) };
            if self.lines.unread.len() + portion.len() > MOST_BYTES {
                return Err(Error::TooLarge { server: self.server.clone(), most: MOST_BYTES });
            }
            self.lines.unread.extend_from_slice(&portion);
        }
    }
}

/// What was read and is not yet an event.
#[derive(Debug, Default)]
struct Lines {
    unread: Vec<u8>,
    /// How much of it is known to hold no whole event.
    searched: usize,
    last_id: u64,
}

impl Lines {
    /// The next one that is there as a whole and says something.
    fn event(&mut self) -> Option<Event> {
        loop {
            let from = self.searched.saturating_sub(1);
            let end = self.unread[from..].windows(2).position(|pair| pair == b"\n\n").map(|at| from + at);
            let Some(end) = end else {
                self.searched = self.unread.len();
                return None;
            };
            let block: Vec<u8> = self.unread.drain(..end + 2).collect();
            self.searched = 0;
            let event = self.read(&String::from_utf8_lossy(&block));
            if !event.data.is_empty() {
                return Some(event);
            }
        }
    }

    fn read(&mut self, block: &str) -> Event {
        let mut event = Event { kind: "record".to_owned(), ..Event::default() };
        for line in block.lines() {
            let (name, said) = line.split_once(':').unwrap_or((line, ""));
            let said = said.strip_prefix(' ').unwrap_or(said);
            match name {
                "id" => self.last_id = said.parse().unwrap_or(self.last_id),
                "event" => event.kind = said.to_owned(),
                "data" => {
                    if !event.data.is_empty() {
                        event.data.push('\n');
                    }
                    event.data.push_str(said);
                }
                _ => {}
            }
        }
        event.id = self.last_id;
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(portions: &[&str]) -> Vec<(u64, String, String)> {
        let mut lines = Lines::default();
        let mut events = Vec::new();
        for portion in portions {
            lines.unread.extend_from_slice(portion.as_bytes());
            events.extend(std::iter::from_fn(|| lines.event()).map(|event| (event.id, event.kind, event.data)));
        }
        events
    }

    #[test]
    fn events_are_found_however_they_are_cut() {
        let text =
            ": listening\n\nid: 4\nevent: record\ndata: {\"a\":1}\n\n: at 4\n\ndata: x\ndata: y\n\nid: 9\ndata: z\n\n";
        let expected = [
            (4, "record".to_owned(), "{\"a\":1}".to_owned()),
            (4, "record".to_owned(), "x\ny".to_owned()),
            (9, "record".to_owned(), "z".to_owned()),
        ];
        assert_eq!(read(&[text]), expected);
        let bytes: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(read(&bytes.iter().map(String::as_str).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn half_an_event_is_none() {
        assert_eq!(read(&["id: 4\ndata: {\"a\":1}\n"]), []);
    }
}
