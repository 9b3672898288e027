//! The least of an MCP server over HTTP: one tool, `note`, for who shows the right bearer.

#![expect(clippy::disallowed_methods, reason = "it is a server of its own, on a thread of its own")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

/// Serves for as long as the process lives; its address.
pub fn serve(key: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(&stream, key));
        }
    });
    format!("http://{address}/mcp")
}

fn answer(mut stream: &TcpStream, key: &str) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut line) = (Vec::new(), String::new());
    while reader.read_line(&mut line).ok()? > 2 {
        head.push(std::mem::take(&mut line).trim().to_ascii_lowercase());
    }
    let length = head.iter().find_map(|line| line.strip_prefix("content-length:")).unwrap_or("0");
    let mut body = vec![0; length.trim().parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let known = head.contains(&format!("authorization: bearer {key}"));
    let (status, reply) = match (known, head[0].starts_with("post")) {
        (false, _) => ("401 Unauthorized", String::new()),
        (true, false) => ("405 Method Not Allowed", String::new()),
        (true, true) => said(&serde_json::from_slice(&body).ok()?),
    };
    let length = reply.len();
    let kind = "content-type: application/json\r\nconnection: close";
    write!(stream, "HTTP/1.1 {status}\r\n{kind}\r\ncontent-length: {length}\r\n\r\n{reply}").ok()
}

fn said(request: &Value) -> (&'static str, String) {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => {
            json!({ "protocolVersion": request["params"]["protocolVersion"], "capabilities": { "tools": {} },
            "serverInfo": { "name": "windlass", "version": "1" } })
        }
        "tools/list" => json!({ "tools": [{ "name": "note", "description": "takes a note", "inputSchema": schema }] }),
        "tools/call" => {
            let text = request["params"]["arguments"]["text"].as_str().unwrap_or_default();
            json!({ "content": [{ "type": "text", "text": format!("noted {text}") }] })
        }
        _ => json!({}),
    };
    match request.get("id") {
        None => ("202 Accepted", String::new()),
        Some(id) => ("200 OK", json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()),
    }
}
