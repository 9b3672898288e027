//! The least MCP server over HTTP, with one tool, that wants to see the execution's key.

#![expect(clippy::disallowed_methods, reason = "each connection blocks a thread, as in no server of ours")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::driver::KEY;

pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Serves for as long as the test runs.
    pub fn start() -> Self {
        Self::for_key(KEY)
    }

    pub fn for_key(key: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let log = log.clone();
                thread::spawn(move || answer(stream.expect("a connection"), &log, key));
            }
        });
        Self { url, asked }
    }

    /// Whether somebody with the key asked for this.
    pub fn was_asked_for(&self, method: &str) -> bool {
        self.asked.lock().expect("nobody panicked").iter().any(|asked| asked == method)
    }
}

/// One request, after which the connection is closed.
fn answer(stream: TcpStream, asked: &Mutex<Vec<String>>, key: &str) -> Option<()> {
    let mut reader = BufReader::new(&stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_ascii_lowercase();
    let length = head.split("content-length:").nth(1).and_then(|rest| rest.lines().next()?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let (status, reply) = match serde_json::from_slice::<Value>(&body) {
        _ if !head.contains(&format!("authorization: bearer {key}")) => ("401 Unauthorized", String::new()),
        Ok(message) if message.get("id").is_some() => {
            let method = message["method"].as_str().unwrap_or_default();
            asked.lock().expect("nobody panicked").push(method.to_owned());
            let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result(method, &message) });
            ("200 OK", reply.to_string())
        }
        Ok(_) => ("202 Accepted", String::new()),
        Err(_) => ("405 Method Not Allowed", String::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        reply.len()
    );
    (&stream).write_all((head + &reply).as_bytes()).ok()
}

fn result(method: &str, message: &Value) -> Value {
    match method {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "test", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{
            "name": "note",
            "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
        }] }),
        "tools/call" => {
            let text = message["params"]["arguments"]["text"].as_str().unwrap_or_default();
            json!({ "content": [{ "type": "text", "text": format!("noted {text}") }] })
        }
        _ => json!({}),
    }
}
