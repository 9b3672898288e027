//! What the gateway adds to a request of a foreign agent's: the same conversation asked of a scripted model server directly,
//! through the gateway in the server's own language, and through it in another. Server and gateway have a thread each, as they
//! have in a run.

#![expect(clippy::disallowed_methods, reason = "a measured part has its own threads and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use windlass_domain::{BoxFuture, CallId, Message, Role, Runtime, Secret, ToolCall, ToolResult, ToolSpec};
use windlass_llm::gateway::{Asked, Gateway, GatewayParts, Leave, Limits, Meter, Metered, Refusal, Ticket, Upstream};
use windlass_llm::{Anthropic, Ask, Chat, Dialect, Endpoint, OpenAi, Opening, Provider, Script, Server, Setup};
use windlass_runtime::TokioRuntime;

use crate::figures::median;

const SCRIPT: &str = "
version: 1
tracks:
  default:
    - reply: I will look at the file.
      calls: [ { tool: read, args: { path: src/main.rs } } ]
      usage: { input: 900, output: 40 }
      repeat: forever
";
/// Messages of the conversation, some 130 KB.
pub const MESSAGES: usize = 400;
const CALLS: u32 = 300;
const ROUNDS: usize = 7;
const KEY: &str = "the-agents-own-key";

/// What it prints when it is done: µs a request.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub bare_micros: f64,
    pub passed_micros: f64,
    pub translated_micros: f64,
}

struct Free;

impl Meter for Free {
    fn open(&self, asked: Asked) -> BoxFuture<'_, Result<Leave, Refusal>> {
        let leave = Leave { ticket: Ticket(0), most_output: asked.asking.output };
        Box::pin(std::future::ready(Ok(leave)))
    }

    fn model(&self) -> Option<String> {
        None
    }

    fn close(&self, _: Ticket, _: Metered) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

pub fn run() -> anyhow::Result<()> {
    let server = serve()?;
    let gateway = stand_before(&server)?;
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let figures = executor.block_on(measure(&server, &gateway))?;
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

async fn measure(server: &str, gateway: &str) -> anyhow::Result<Figures> {
    let setup = Setup::new(Arc::new(TokioRuntime::current()));
    let at = |url: &str| Endpoint { base_url: url.to_owned(), key: Some(Secret::new(KEY)) };
    let mut bare = conversation(&OpenAi::new(at(server), setup.clone())?);
    let mut passed = conversation(&OpenAi::new(at(gateway), setup.clone())?);
    let mut translated = conversation(&Anthropic::new(at(gateway), setup)?);
    let mut micros = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        // In turn, so that a busy moment falls on all.
        for (chat, micros) in [&mut bare, &mut passed, &mut translated].into_iter().zip(&mut micros) {
            let taken = calls(&mut **chat).await?;
            // The first round is for warming up.
            micros.extend((round > 0).then_some(taken));
        }
    }
    let [bare_micros, passed_micros, translated_micros] = micros.map(median);
    Ok(Figures { bare_micros, passed_micros, translated_micros })
}

async fn calls(chat: &mut dyn Chat) -> anyhow::Result<f64> {
    let begun = Instant::now();
    for _ in 0..CALLS {
        chat.call(Ask { answered: 1 }, &mut |_| {}).await?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS))
}

fn conversation(provider: &dyn Provider) -> Box<dyn Chat> {
    let parameters = serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let read = ToolSpec { name: "read".into(), description: "Reads a file.".into(), parameters };
    let mut chat = provider.open(Opening {
        model: "rehearsal/default",
        temperature: None,
        max_output_tokens: None,
        system: "You are a careful engineer.",
        tools: &[read],
        answer_schema: None,
        agent: "bench",
        role: Role::Executor,
    });
    chat.push(&Message::user("Fix the failing test."));
    for step in 0..MESSAGES / 2 {
        let id = format!("call_{step}");
        let calls = vec![ToolCall::new(id.clone(), "read", r#"{"path":"src/main.rs"}"#)];
        chat.push(&Message::assistant("I will look at the file.", calls));
        let content = "fn main() { println!(\"hello\"); }\n".repeat(16);
        let (call_id, tool) = (CallId(id), "read".into());
        chat.push(&Message::Tool(ToolResult { call_id, tool, content, is_error: false, images: vec![] }));
    }
    chat
}

fn serve() -> anyhow::Result<String> {
    let script = Arc::new(Script::parse(SCRIPT).map_err(windlass_llm::Error::from)?);
    let (tell, told) = std::sync::mpsc::channel();
    apart(move |runtime| async move {
        let Ok(server) = Server::bind(0, script, runtime).await else { return };
        let address = server.local_addr().map(|address| format!("http://{address}"));
        // Nobody waits for it any longer when this fails.
        let _ = tell.send(address);
        server.run().await;
    });
    Ok(told.recv()??)
}

fn stand_before(server: &str) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    let endpoint = Endpoint { base_url: server.to_owned(), key: None };
    apart(move |runtime| async move {
        let gateway = Gateway::new(GatewayParts {
            upstream: Upstream::Model { dialect: Dialect::Chat, endpoint },
            model: "rehearsal/default".to_owned(),
            key: Secret::new(KEY),
            meter: Arc::new(Free),
            setup: Setup::new(runtime),
            limits: Limits::default(),
            elsewhere: None,
        });
        if let Ok(gateway) = gateway {
            // Without it every call fails, which says enough.
            let _ = gateway.serve(listener).await;
        }
    });
    Ok(url)
}

/// In a thread of its own, for as long as the process lasts.
fn apart<F: Future<Output = ()>>(work: impl FnOnce(Arc<dyn Runtime>) -> F + Send + 'static) {
    std::thread::spawn(move || {
        let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        executor.block_on(async { work(Arc::new(TokioRuntime::current())).await });
    });
}
