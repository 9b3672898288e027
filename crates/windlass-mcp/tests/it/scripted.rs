//! A server that is a function: a message in, lines out. It begins anew whenever it is connected to, and remembers over all of
//! its lives what it was told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use windlass_domain::{BoxFuture, CancelSignal};
use windlass_mcp::{Answer, Connector, Error, Limits, Listing, Pins, Pipe, Server, Stdio, Transport};
use windlass_runtime::TokioRuntime;

/// What a server does about a message.
pub enum Does {
    Says(String),
    Ends,
}

pub type Script = Arc<dyn Fn(&Value) -> Vec<Does> + Send + Sync>;

#[derive(Clone)]
pub struct Scripted {
    pub script: Script,
    pub told: Arc<Mutex<Vec<Value>>>,
    pub lives: Arc<Mutex<usize>>,
}

struct Life {
    of: Scripted,
    out: Mutex<VecDeque<Does>>,
}

impl Scripted {
    pub fn new(script: impl Fn(&Value) -> Vec<Does> + Send + Sync + 'static) -> Self {
        Self { script: Arc::new(script), told: Arc::default(), lives: Arc::default() }
    }

    pub fn methods(&self) -> Vec<String> {
        let told = self.told.lock().unwrap();
        told.iter().map(|message| message["method"].as_str().unwrap_or("(answer)").to_owned()).collect()
    }

    pub fn lives(&self) -> usize {
        *self.lives.lock().unwrap()
    }

    /// With everything accepted that `accepted` has.
    pub fn server(&self, accepted: &[Value], limits: Limits) -> Server {
        let mut pins = Pins::default();
        pins.accept("s", &Listing::of("s", accepted.to_vec()));
        let pinned = pins.of("s").unwrap().clone();
        Server::new("s", Box::new(self.clone()), pinned, Arc::new(TokioRuntime::current()), limits)
    }

    pub async fn call(&self, accepted: &[Value]) -> Result<Answer, Error> {
        self.server(accepted, short()).call("t", &json!({"a": 1}), &CancelSignal::never()).await
    }
}

impl Connector for Scripted {
    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn Transport>, String>> {
        *self.lives.lock().unwrap() += 1;
        let life = Life { of: self.clone(), out: Mutex::default() };
        let stdio = Stdio::new(Box::new(life), short().message_bytes);
        Box::pin(std::future::ready(Ok(Box::new(stdio) as Box<dyn Transport>)))
    }
}

impl Pipe for Life {
    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), String>> {
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let message: Value = serde_json::from_slice(line).unwrap();
            self.out.lock().unwrap().extend((self.of.script)(&message));
            self.of.told.lock().unwrap().push(message);
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn read(&self) -> BoxFuture<'_, Result<Vec<u8>, String>> {
        let mut out = self.out.lock().unwrap();
        match out.front() {
            None => Box::pin(std::future::pending()),
            Some(Does::Ends) => Box::pin(std::future::ready(Ok(Vec::new()))),
            Some(Does::Says(_)) => {
                let Some(Does::Says(line)) = out.pop_front() else { unreachable!("it was there") };
                Box::pin(std::future::ready(Ok(format!("{line}\n").into_bytes())))
            }
        }
    }

    fn complaints(&self) -> String {
        "out of cheese".to_owned()
    }
}

pub fn short() -> Limits {
    Limits {
        question: Duration::from_millis(200),
        call: Duration::from_millis(200),
        message_bytes: 10_000,
        talk_bytes: 50_000,
        ..Limits::default()
    }
}

pub fn tool(description: &str) -> Value {
    json!({"name": "t", "description": description, "inputSchema": {"type": "object"}})
}

pub fn answer(message: &Value, result: &Value) -> Does {
    Does::Says(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string())
}

/// What a good server does, with this one tool.
pub fn good(message: &Value, tool: &Value) -> Vec<Does> {
    match message["method"].as_str() {
        Some("initialize") => vec![answer(message, &json!({"protocolVersion": "2025-06-18", "capabilities": {}}))],
        Some("tools/list") => vec![answer(message, &json!({"tools": [tool]}))],
        Some("tools/call") => {
            let text = format!("called with {}", message["params"]["arguments"]);
            vec![answer(message, &json!({"content": [{"type": "text", "text": text}]}))]
        }
        _ => Vec::new(),
    }
}

/// A good server but for what it does about one method.
pub fn but(method: &'static str, does: impl Fn(&Value) -> Vec<Does> + Send + Sync + 'static) -> Scripted {
    Scripted::new(move |message| if message["method"] == method { does(message) } else { good(message, &tool("d")) })
}
