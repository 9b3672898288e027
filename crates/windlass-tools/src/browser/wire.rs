//! The DevTools protocol over a program's pipes: JSON, each message ended by a zero byte. It sends questions and says what comes
//! back, an answer or an event, and decides nothing about either. What arrives is taken only while somebody listens, and one
//! message at a time, so that a browser which says much costs time and no memory.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_sandbox::{Running, Status};

use super::messages::{Messages, TooLong};
use super::trouble::Trouble;

/// A screenshot is by far the longest that is asked for.
const LONGEST: usize = 24 << 20;
/// A browser that is well says nothing that is no message.
const MOST_NOISE: u32 = 20;
/// Of what it complained, when it is said why it ended.
const COMPLAINT_LETTERS: usize = 600;

pub(super) struct Wire {
    running: Box<dyn Running>,
    messages: Messages,
    next_id: u64,
    noise: u32,
}

#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    Answer { id: u64, result: Result<Value, String> },
    Event { method: String, params: Value },
}

#[derive(Deserialize)]
struct Raw {
    id: Option<u64>,
    #[serde(default)]
    result: Value,
    error: Option<Fault>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
}

#[derive(Deserialize)]
struct Fault {
    #[serde(default)]
    message: String,
}

impl Wire {
    pub fn new(running: Box<dyn Running>) -> Self {
        Self { running, messages: Messages::new(LONGEST), next_id: 1, noise: 0 }
    }

    /// Returns the id that the answer will have. Without a session it is the browser that is asked, not the page.
    pub async fn send(&mut self, session: Option<&str>, method: &str, params: Value) -> Result<u64, Trouble> {
        let id = self.next_id;
        self.next_id += 1;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        match self.running.write(&bytes).await {
            Ok(()) => Ok(id),
            Err(error) => Err(self.gone(&error.to_string())),
        }
    }

    /// A dropped future loses nothing.
    pub async fn hear(&mut self) -> Result<Incoming, Trouble> {
        loop {
            match self.messages.next() {
                Err(TooLong) => return Err(Trouble::Gone("it said more at once than can be listened to".to_owned())),
                Ok(Some(message)) => match read(&message) {
                    Some(incoming) => return Ok(incoming),
                    None if self.noise < MOST_NOISE => self.noise += 1,
                    None => return Err(Trouble::Gone("it talks nonsense".to_owned())),
                },
                Ok(None) => match self.running.read().await {
                    Ok(piece) if piece.is_empty() => return Err(self.ended().await),
                    Ok(piece) => self.messages.feed(&piece),
                    Err(error) => return Err(self.gone(&error.to_string())),
                },
            }
        }
    }

    /// How it ended tells more than what it complained of, where somebody else ended it.
    async fn ended(&self) -> Trouble {
        match self.running.wait().await {
            Ok(Status::OutOfMemory) => Trouble::Gone("the sandbox ran out of memory".to_owned()),
            Ok(Status::TooManyProcesses) => Trouble::Gone("the sandbox ran out of processes".to_owned()),
            Ok(Status::Signal(signal)) => self.gone(&format!("it was killed by signal {signal}")),
            Ok(Status::Code(_) | Status::TimedOut | Status::Cancelled) => self.gone("it has no more to say"),
            Err(error) => self.gone(&error.to_string()),
        }
    }

    fn gone(&self, what: &str) -> Trouble {
        let complaints = self.running.complaints();
        let complaints = String::from_utf8_lossy(&complaints);
        let skipped = complaints.trim().chars().count().saturating_sub(COMPLAINT_LETTERS);
        let last: String = complaints.trim().chars().skip(skipped).collect();
        Trouble::Gone(if last.is_empty() { what.to_owned() } else { format!("{what}; it last complained: {last}") })
    }
}

fn read(message: &[u8]) -> Option<Incoming> {
    let Raw { id, result, error, method, params } = serde_json::from_slice(message).ok()?;
    match (id, method, error) {
        (Some(id), _, None) => Some(Incoming::Answer { id, result: Ok(result) }),
        (Some(id), _, Some(fault)) => Some(Incoming::Answer { id, result: Err(fault.message) }),
        (None, Some(method), _) => Some(Incoming::Event { method, params }),
        (None, None, _) => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};

    use futures_util::FutureExt as _;
    use windlass_sandbox::{BoxFuture, Error};

    use super::*;

    /// Says what it was told to say, then ends.
    #[derive(Default, Clone)]
    pub struct Puppet {
        pub says: Arc<Mutex<VecDeque<Vec<u8>>>>,
        pub heard: Arc<Mutex<Vec<u8>>>,
    }

    impl Running for Puppet {
        fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), Error>> {
            self.heard.lock().expect("a lock").extend_from_slice(bytes);
            Box::pin(std::future::ready(Ok(())))
        }

        fn close_stdin(&self) -> BoxFuture<'_, ()> {
            Box::pin(std::future::ready(()))
        }

        fn read(&self) -> BoxFuture<'_, Result<Vec<u8>, Error>> {
            let piece = self.says.lock().expect("a lock").pop_front().unwrap_or_default();
            Box::pin(std::future::ready(Ok(piece)))
        }

        fn complaints(&self) -> Vec<u8> {
            b"no display".to_vec()
        }

        fn resize(&self, _: u16, _: u16) -> Result<(), Error> {
            Ok(())
        }

        fn stop(&self) {}

        fn kill(&self) {}

        fn wait(&self) -> BoxFuture<'_, Result<Status, Error>> {
            Box::pin(std::future::ready(Ok(Status::Code(0))))
        }
    }

    fn saying(pieces: Vec<Vec<u8>>) -> Wire {
        let puppet = Puppet::default();
        puppet.says.lock().expect("a lock").extend(pieces);
        Wire::new(Box::new(puppet))
    }

    fn hear(wire: &mut Wire) -> Result<Incoming, Trouble> {
        wire.hear().now_or_never().expect("a puppet never waits")
    }

    #[test]
    fn answers_and_events_are_told_apart() {
        let said =
            br#"{"id":7,"result":{"a":1}}{"id":8,"error":{"code":1,"message":"no"}}{"method":"M","params":{"b":2}}"#;
        let said = String::from_utf8_lossy(said).replace("}{\"", "}\0{\"") + "\0";
        let mut wire = saying(said.as_bytes().chunks(5).map(<[u8]>::to_vec).collect());
        assert_eq!(hear(&mut wire), Ok(Incoming::Answer { id: 7, result: Ok(json!({"a": 1})) }));
        assert_eq!(hear(&mut wire), Ok(Incoming::Answer { id: 8, result: Err("no".to_owned()) }));
        assert_eq!(hear(&mut wire), Ok(Incoming::Event { method: "M".to_owned(), params: json!({"b": 2}) }));
        let closed = Trouble::Gone("it has no more to say; it last complained: no display".to_owned());
        assert_eq!(hear(&mut wire), Err(closed));
    }

    #[test]
    fn some_noise_is_overheard_and_no_more() {
        let noise = |count: usize| vec![b"{\0\xff\0[1]\0{}\0".to_vec(); count];
        let mut wire = saying(noise(5).into_iter().chain([b"{\"id\":1}\0".to_vec()]).collect());
        assert_eq!(hear(&mut wire), Ok(Incoming::Answer { id: 1, result: Ok(Value::Null) }));
        assert_eq!(hear(&mut saying(noise(6))), Err(Trouble::Gone("it talks nonsense".to_owned())));
    }

    #[test]
    fn nesting_without_end_is_noise() {
        let deep = format!("{{\"id\":1,\"result\":{}\0", "[".repeat(1 << 20));
        let mut wire = saying(vec![deep.into_bytes(), b"{\"id\":2}\0".to_vec()]);
        assert_eq!(hear(&mut wire), Ok(Incoming::Answer { id: 2, result: Ok(Value::Null) }));
    }

    #[test]
    fn a_message_without_end_is_not_kept() {
        let mut wire = saying(vec![vec![b'x'; 1 << 20]; 30]);
        assert!(matches!(hear(&mut wire), Err(Trouble::Gone(why)) if why.contains("more at once")));
    }

    #[test]
    fn what_is_sent_ends_in_a_zero_byte() {
        let puppet = Puppet::default();
        let mut wire = Wire::new(Box::new(puppet.clone()));
        let sent = |wire: &mut Wire, session| wire.send(session, "M", json!({})).now_or_never().expect("at once");
        assert_eq!((sent(&mut wire, None), sent(&mut wire, Some("s"))), (Ok(1), Ok(2)));
        let heard = String::from_utf8(puppet.heard.lock().expect("a lock").clone()).expect("text");
        let expected = "{\"id\":1,\"method\":\"M\",\"params\":{}}\0{\"id\":2,\"method\":\"M\",\"params\":{},\"sessionId\":\"s\"}\0";
        assert_eq!(heard, expected);
    }
}
