//! The least of an HTTP client: one connection that is kept, one request after the other, answers whose length is told. What a
//! load of requests is made with must cost little beside what answers them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use anyhow::Context as _;

pub struct Client {
    stream: BufReader<TcpStream>,
    /// What every request says besides its first line and its length.
    headers: String,
}

pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Answer {
    pub fn expect(self, status: u16) -> anyhow::Result<Self> {
        anyhow::ensure!(self.status == status, "the server answered {} and not {status}: {}", self.status, self.body);
        Ok(self)
    }

    pub fn json(&self) -> anyhow::Result<serde_json::Value> {
        serde_json::from_str(&self.body).with_context(|| format!("the server answered {}", self.body))
    }
}

impl Client {
    /// `address` is HOST:PORT.
    pub fn connect(address: &str, token: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).with_context(|| format!("{address} cannot be reached"))?;
        stream.set_nodelay(true)?;
        let headers = format!("host: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n");
        Ok(Self { stream: BufReader::new(stream), headers })
    }

    pub fn get(&mut self, path: &str) -> anyhow::Result<Answer> {
        let request = format!("GET {path} HTTP/1.1\r\n{}\r\n", self.headers);
        self.ask(&request)
    }

    pub fn post(&mut self, path: &str, body: &str) -> anyhow::Result<Answer> {
        let length = body.len();
        let request = format!("POST {path} HTTP/1.1\r\n{}content-length: {length}\r\n\r\n{body}", self.headers);
        self.ask(&request)
    }

    fn ask(&mut self, request: &str) -> anyhow::Result<Answer> {
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.with_context(|| format!("no answer, but {line:?}"))?;
        let mut length = None;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(told) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = told.trim().parse().ok();
            }
        }
        let mut body = vec![0; length.context("an answer whose length is not told")?];
        self.stream.read_exact(&mut body)?;
        Ok(Answer { status, body: String::from_utf8(body)? })
    }
}
