//! A client of `windlass serve` that says exactly what it is told to: one request over one connection, by hand.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// A guard against hanging.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let is_it = |line: &&str| line.to_ascii_lowercase().starts_with(&format!("{name}:"));
        self.head.lines().find(is_it).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

pub fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream
}

/// Everything in it is as it is given; what is not is not sent.
pub fn ask_raw(address: &str, request: &[u8]) -> Option<Answer> {
    let mut stream = connect(address);
    // Whoever is cut off in the middle of speaking still hears why.
    let _cut_off = stream.write_all(request);
    read_answer(stream)
}

pub fn read_answer(mut stream: TcpStream) -> Option<Answer> {
    let mut bytes = Vec::new();
    let _cut_off = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head: head.to_owned(), body: body.to_owned() })
}

pub fn ask(address: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        request.push_str(&format!("Host: {address}\r\n"));
    }
    headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
    request.push_str("\r\n");
    request.push_str(body);
    ask_raw(address, request.as_bytes()).unwrap_or_else(|| panic!("no answer to {method} {path}"))
}

/// Events of a stream, as they come.
pub struct Listening {
    lines: BufReader<TcpStream>,
}

impl Listening {
    pub fn to(address: &str, path: &str, headers: &[(&str, &str)]) -> Self {
        let mut stream = connect(address);
        let mut request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
        headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).expect("the server hears");
        let mut listening = Self { lines: BufReader::new(stream) };
        assert!(listening.line().expect("an answer").contains("200"));
        while listening.line().expect("a greeting") != ": listening" {}
        listening
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
        }
    }

    /// The next one's position and what it is; none when the stream has ended.
    pub fn next(&mut self) -> Option<(u64, Value)> {
        loop {
            if let (Some(position), event) = self.next_of_all()? {
                return Some((position, event));
            }
        }
    }

    /// The same with what has no position.
    pub fn next_of_all(&mut self) -> Option<(Option<u64>, Value)> {
        let mut position = None;
        loop {
            let line = self.line()?;
            if let Some(id) = line.strip_prefix("id: ") {
                position = id.parse().ok();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((position, serde_json::from_str(data).expect("JSON")));
            }
        }
    }

    /// Says that it will say nothing more.
    pub fn half_close(&self) {
        self.lines.get_ref().shutdown(Shutdown::Write).expect("a socket");
    }
}
