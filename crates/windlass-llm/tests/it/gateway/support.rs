//! What the gateway's tests stand on: a meter that remembers, a gateway on a port of its own, and an agent made of sockets.

#![expect(clippy::disallowed_methods, reason = "tests serve their own sockets and take the gateway down")]

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use windlass_domain::{BoxFuture, Secret, Usage};
use windlass_llm::gateway::{
    Asked, Gateway, GatewayParts, Leave, Limits, Meter, Metered, Outcome, Refusal, Ticket, Upstream,
};
use windlass_llm::{Dialect, Endpoint, Script};

use crate::support::{KEY, Wire, hasty_setup};

/// What the agent has to show.
pub const AGENT_KEY: &str = "agent-key-0123456789";

pub const DIALECTS: [Dialect; 3] = [Dialect::Chat, Dialect::Responses, Dialect::Messages];

/// Remembers everything, and lets nothing through once it is told so.
pub struct Ledger {
    pub asked: Mutex<Vec<Asked>>,
    closed: Mutex<Vec<(u64, Metered)>>,
    /// Who is to answer from now on.
    pub switched: Mutex<Option<String>>,
    refuses: Option<&'static str>,
    /// No answer may be longer.
    most_output: u64,
    /// A permit for each opening that may go on.
    gate: Semaphore,
    pub arrived: Semaphore,
    settled: Semaphore,
}

impl Ledger {
    pub fn open() -> Arc<Self> {
        Self::new(None, Semaphore::MAX_PERMITS, u64::MAX)
    }

    /// Lets every answer have so many tokens.
    pub fn shortening(most_output: u64) -> Arc<Self> {
        Self::new(None, Semaphore::MAX_PERMITS, most_output)
    }

    pub fn refusing(message: &'static str) -> Arc<Self> {
        Self::new(Some(message), Semaphore::MAX_PERMITS, u64::MAX)
    }

    /// Waits in `open` until somebody says `go_on`.
    pub fn hesitating() -> Arc<Self> {
        Self::new(None, 0, u64::MAX)
    }

    fn new(refuses: Option<&'static str>, free: usize, most_output: u64) -> Arc<Self> {
        Arc::new(Self {
            asked: Mutex::default(),
            closed: Mutex::default(),
            switched: Mutex::default(),
            refuses,
            most_output,
            gate: Semaphore::new(free),
            arrived: Semaphore::new(0),
            settled: Semaphore::new(0),
        })
    }

    pub fn go_on(&self) {
        self.gate.add_permits(1);
    }

    pub fn opened(&self) -> usize {
        self.asked.lock().expect("no panic").len()
    }

    /// All that was closed, in the order of the tickets; each once.
    pub fn closed(&self) -> Vec<Metered> {
        let mut closed = self.closed.lock().expect("no panic").clone();
        closed.sort_by_key(|(ticket, _)| *ticket);
        let tickets = closed.iter().map(|(ticket, _)| *ticket).collect::<Vec<_>>();
        assert_eq!(tickets, (1..=tickets.len() as u64).collect::<Vec<_>>(), "each ticket is closed once");
        closed.into_iter().map(|(_, metered)| metered).collect()
    }

    /// Waits until so many more have been closed, and tells of the last.
    pub async fn settles(&self, count: u32) -> Metered {
        self.settled.acquire_many(count).await.expect("never closed").forget();
        self.closed().pop().expect("one was closed")
    }
}

impl Meter for Ledger {
    fn open(&self, asked: Asked) -> BoxFuture<'_, Result<Leave, Refusal>> {
        Box::pin(async move {
            self.arrived.add_permits(1);
            if let Some(message) = self.refuses {
                return Err(Refusal { message: message.to_owned() });
            }
            self.gate.acquire().await.expect("never closed").forget();
            let mut all = self.asked.lock().expect("no panic");
            let most_output = asked.asking.output.min(self.most_output);
            all.push(asked);
            Ok(Leave { ticket: Ticket(all.len() as u64), most_output })
        })
    }

    fn model(&self) -> Option<String> {
        self.switched.lock().expect("no panic").clone()
    }

    fn close(&self, ticket: Ticket, metered: Metered) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.closed.lock().expect("no panic").push((ticket.0, metered));
            self.settled.add_permits(1);
        })
    }
}

pub fn parts(upstream: Upstream, ledger: &Arc<Ledger>) -> GatewayParts {
    GatewayParts {
        upstream,
        model: "rehearsal/worker".to_owned(),
        key: Secret::new(AGENT_KEY),
        meter: ledger.clone(),
        setup: hasty_setup(),
        limits: Limits::default(),
        elsewhere: None,
    }
}

pub fn model(dialect: Dialect, url: &str) -> Upstream {
    Upstream::Model { dialect, endpoint: Endpoint { base_url: url.to_owned(), key: Some(Secret::new(KEY)) } }
}

pub fn rehearsal(script: &str) -> Upstream {
    let script = Script::parse(script).unwrap_or_else(|problems| panic!("{problems}"));
    Upstream::Rehearsal { script: Arc::new(script), track: "worker".to_owned() }
}

/// A gateway that listens.
pub struct Desk {
    pub address: String,
    serving: tokio::task::JoinHandle<()>,
}

impl Desk {
    pub fn over(upstream: Upstream, ledger: &Arc<Ledger>) -> Self {
        Self::start(parts(upstream, ledger))
    }

    pub fn start(parts: GatewayParts) -> Self {
        let gateway = Gateway::new(parts).unwrap_or_else(|error| panic!("{error}"));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound").to_string();
        let serving = tokio::spawn(async move { gateway.serve(listener).await.expect("it listens") });
        Self { address, serving }
    }

    /// Takes the gateway away.
    pub fn close(&self) {
        self.serving.abort();
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Asks as an agent does.
    pub async fn ask(&self, dialect: Dialect, body: &Value) -> Answer {
        self.send(&post(path(dialect), &body.to_string())).await
    }

    /// Sends these bytes on a connection of their own and reads to its end.
    pub async fn send(&self, request: &str) -> Answer {
        let mut agent = self.begin(request).await;
        agent.rest().await
    }

    pub async fn begin(&self, request: &str) -> Agent {
        let mut stream = TcpStream::connect(&self.address).await.expect("the gateway listens");
        stream.write_all(request.as_bytes()).await.expect("sent");
        Agent { stream, heard: Vec::new() }
    }
}

/// The agent's side of one connection.
pub struct Agent {
    pub stream: TcpStream,
    heard: Vec<u8>,
}

impl Agent {
    /// Reads until this has come.
    pub async fn hears(&mut self, wanted: &str) {
        while !String::from_utf8_lossy(&self.heard).contains(wanted) {
            let read = self.stream.read_buf(&mut self.heard).await.expect("the gateway speaks");
            assert!(read > 0, "it ended before `{wanted}`: {}", String::from_utf8_lossy(&self.heard));
        }
    }

    pub async fn rest(&mut self) -> Answer {
        // A connection that is torn down is an end, too.
        let _ = self.stream.read_to_end(&mut self.heard).await;
        Answer::read(&self.heard)
    }
}

/// What an agent has heard.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
    /// The body came to its proper end.
    pub is_whole: bool,
}

impl Answer {
    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let Some((head, rest)) = text.split_once("\r\n\r\n") else {
            return Self { status: 0, head: text, body: String::new(), is_whole: false };
        };
        let status = head[9..12].parse().expect("a status");
        let (body, is_whole) =
            if head.contains("transfer-encoding: chunked") { unchunked(rest) } else { (rest.to_owned(), true) };
        Self { status, head: head.to_owned(), body, is_whole }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The events of a stream, without the one that is no JSON.
    pub fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
        data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
    }
}

fn unchunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let Ok(length) = usize::from_str_radix(length, 16) else { return (body, false) };
        if length == 0 {
            return (body, true);
        }
        body.push_str(after.get(..length).unwrap_or(after));
        rest = after.get(length + 2..).unwrap_or_default();
    }
    (body, false)
}

pub fn path(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Chat => "/v1/chat/completions",
        Dialect::Responses => "/v1/responses",
        Dialect::Messages => "/v1/messages?beta=true",
    }
}

pub fn post(path: &str, body: &str) -> String {
    post_with(path, &format!("authorization: Bearer {AGENT_KEY}\r\n"), body)
}

pub fn post_with(path: &str, headers: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A request of one message and one tool.
pub fn question(dialect: Dialect, text: &str, stream: bool) -> Value {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    match dialect {
        Dialect::Chat => json!({
            "model": "their-model", "stream": stream, "stream_options": {"include_usage": true},
            "messages": [{"role": "user", "content": text}],
            "tools": [{"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": schema}}],
        }),
        Dialect::Responses => json!({
            "model": "their-model", "stream": stream, "input": text,
            "tools": [{"type": "function", "name": "read", "description": "Reads.", "parameters": schema}],
        }),
        Dialect::Messages => json!({
            "model": "their-model", "stream": stream, "max_tokens": 1000, "messages": [{"role": "user", "content": text}],
            "tools": [{"name": "read", "description": "Reads.", "input_schema": schema}],
        }),
    }
}

/// What stands in a whole answer, whatever the language.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    pub text: String,
    /// Name and arguments of each.
    pub calls: Vec<(String, Value)>,
    pub input: u64,
    pub output: u64,
}

pub fn heard(dialect: Dialect, answer: &Value) -> Heard {
    let arguments = |text: &Value| serde_json::from_str(text.as_str().expect("text")).expect("JSON");
    let name = |call: &Value| call["name"].as_str().expect("a name").to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let usage = &answer["usage"];
    match dialect {
        Dialect::Chat => {
            let message = &answer["choices"][0]["message"];
            Heard {
                text: message["content"].as_str().expect("text").to_owned(),
                calls: list(&message["tool_calls"])
                    .iter()
                    .map(|call| (name(&call["function"]), arguments(&call["function"]["arguments"])))
                    .collect(),
                input: usage["prompt_tokens"].as_u64().expect("a count"),
                output: usage["completion_tokens"].as_u64().expect("a count"),
            }
        }
        Dialect::Responses => {
            let items = list(&answer["output"]);
            let of = |kind: &str| items.iter().filter(|item| item["type"] == kind).cloned().collect::<Vec<_>>();
            Heard {
                text: of("message").iter().map(|item| item["content"][0]["text"].as_str().expect("text")).collect(),
                calls: of("function_call").iter().map(|call| (name(call), arguments(&call["arguments"]))).collect(),
                input: usage["input_tokens"].as_u64().expect("a count"),
                output: usage["output_tokens"].as_u64().expect("a count"),
            }
        }
        Dialect::Messages => {
            let blocks = list(&answer["content"]);
            let of = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).cloned().collect::<Vec<_>>();
            let cached = ["cache_read_input_tokens", "cache_creation_input_tokens"].map(|name| usage[name].as_u64());
            Heard {
                text: of("text").iter().map(|block| block["text"].as_str().expect("text")).collect(),
                calls: of("tool_use").iter().map(|call| (name(call), call["input"].clone())).collect(),
                input: usage["input_tokens"].as_u64().expect("a count") + cached.iter().flatten().sum::<u64>(),
                output: usage["output_tokens"].as_u64().expect("a count"),
            }
        }
    }
}

pub fn wire(dialect: Dialect) -> Wire {
    match dialect {
        Dialect::Chat => Wire::OpenAi,
        Dialect::Responses => Wire::Responses,
        Dialect::Messages => Wire::Anthropic,
    }
}

pub fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

pub fn is_failed(metered: &Metered) -> bool {
    matches!(metered.outcome, Outcome::Failed { .. })
}
