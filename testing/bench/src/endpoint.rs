//! A model server in this process that answers by a function, for runs whose answers depend on what was asked, and whose
//! requests are looked at. It speaks OpenAI's chat completions, without streaming, and meters four bytes as a token.

#![expect(clippy::disallowed_methods, reason = "a benchmark serves its own sockets, a thread each")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

use serde_json::{Value, json};

const BYTES_PER_TOKEN: usize = 4;

pub struct Endpoint {
    /// As `LITELLM_API_BASE` wants it.
    pub url: String,
}

/// The message that answers a request.
type Answer = dyn Fn(&[u8]) -> Value + Send + Sync;

impl Endpoint {
    pub fn start(answer: impl Fn(&[u8]) -> Value + Send + Sync + 'static) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let url = format!("http://{}", listener.local_addr()?);
        let answer: Arc<Answer> = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answer = Arc::clone(&answer);
                // A client that leaves ends its thread.
                std::thread::spawn(move || drop(converse(stream, &*answer)));
            }
        });
        Ok(Self { url })
    }
}

fn converse(stream: TcpStream, answer: &Answer) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(body) = request(&mut reader)? {
        let usage = json!({"prompt_tokens": body.len() / BYTES_PER_TOKEN, "completion_tokens": 20});
        let choice = json!({"index": 0, "message": answer(&body), "finish_reason": "stop"});
        let said = json!({"id": "r", "choices": [choice], "usage": usage}).to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        reader.get_mut().write_all(format!("{head}content-length: {}\r\n\r\n{said}", said.len()).as_bytes())?;
    }
    Ok(())
}

/// The body of the next request; none when there is no other.
fn request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    Ok(Some(body))
}

/// A message with these calls.
pub fn calls(calls: impl IntoIterator<Item = (String, &'static str, Value)>) -> Value {
    let call = |(id, tool, arguments): (String, &str, Value)| json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments.to_string()}});
    json!({"role": "assistant", "content": null, "tool_calls": calls.into_iter().map(call).collect::<Vec<_>>()})
}

pub fn words(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}
