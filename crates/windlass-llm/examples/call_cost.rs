//! What a model call costs on this side of the network: CPU time of the calling thread and wall time, on loopback with
//! keep-alive, against the rehearsal's server in another thread, with histories of 20, 400 and 2,000 messages. A benchmark,
//! not a test: `cargo run --release -p windlass-llm --example call_cost`.

#![expect(clippy::disallowed_methods, reason = "a benchmark has its own threads and reads its own clocks")]
#![expect(clippy::print_stdout, reason = "its table goes to the terminal")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use windlass_domain::{CallId, Message, Role, ToolCall, ToolResult};
use windlass_llm::{
    Anthropic, Ask, Chat, Endpoint, OpenAi, Opening, Provider, Rehearsal, Responses, Script, Server, Setup,
};
use windlass_runtime::TokioRuntime;

const SCRIPT: &str = "
version: 1
tracks:
  default:
    - reply: I will look at the file.
      calls: [ { tool: read, args: { path: src/main.rs } } ]
      usage: { input: 900, output: 40 }
      repeat: forever
";
const CALLS: u32 = 2_000;

fn main() {
    let script = Arc::new(Script::parse(SCRIPT).expect("a valid script"));
    let url = serve(script.clone());
    println!(
        "{:<10} {:>9} {:>8} {:>12} {:>12} {:>15}",
        "provider", "messages", "KB", "CPU µs/call", "wall µs/call", "server's CPU µs"
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let setup = Setup::new(Arc::new(TokioRuntime::new(tokio::runtime::Handle::current())));
        let endpoint = Endpoint { base_url: url, key: None };
        let openai = OpenAi::new(endpoint.clone(), setup.clone()).expect("a good address");
        let responses = Responses::new(endpoint.clone(), setup.clone()).expect("a good address");
        let anthropic = Anthropic::new(endpoint, setup.clone()).expect("a good address");
        let rehearsal = Rehearsal::new(script, setup);
        let providers: [(&str, &dyn Provider); 4] =
            [("openai", &openai), ("responses", &responses), ("anthropic", &anthropic), ("rehearsal", &rehearsal)];
        for (name, provider) in providers {
            for messages in [20, 400, 2_000] {
                measure(name, provider, messages).await;
            }
        }
    });
}

/// In a thread of its own, so that its time is not ours.
fn serve(script: Arc<Script>) -> String {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let tokio = Arc::new(TokioRuntime::new(tokio::runtime::Handle::current()));
            let server = Server::bind(0, script, tokio).await.expect("a free port");
            sender.send(format!("http://{}", server.local_addr().expect("bound"))).expect("the benchmark listens");
            server.run().await;
        });
    });
    receiver.recv().expect("the server starts")
}

async fn measure(name: &str, provider: &dyn Provider, messages: usize) {
    let mut chat = provider.open(Opening {
        model: "rehearsal/default",
        temperature: None,
        max_output_tokens: None,
        system: "You are a careful engineer.",
        tools: &[],
        answer_schema: None,
        agent: "bench",
        role: Role::Executor,
    });
    let mut bytes = 0;
    chat.push(&Message::user("Fix the failing test."));
    for step in 0..messages / 2 {
        bytes += push_step(&mut *chat, step);
    }
    for _ in 0..CALLS / 10 {
        call(&mut *chat).await;
    }
    let (cpu, all, wall) = (cpu(ClockId::ThreadCPUTime), cpu(ClockId::ProcessCPUTime), Instant::now());
    for _ in 0..CALLS {
        call(&mut *chat).await;
    }
    let per_call = |spent: Duration| spent.as_secs_f64() * 1e6 / f64::from(CALLS);
    let wall = per_call(wall.elapsed());
    let all = per_call(self::cpu(ClockId::ProcessCPUTime) - all);
    let ours = per_call(self::cpu(ClockId::ThreadCPUTime) - cpu);
    let server = all - ours;
    println!("{name:<10} {messages:>9} {:>8} {ours:>12.1} {wall:>12.1} {server:>15.1}", bytes / 1024);
}

fn push_step(chat: &mut dyn Chat, step: usize) -> usize {
    let (id, content) = (format!("call_{step}"), "fn main() { println!(\"hello\"); }\n".repeat(8));
    let calls = vec![ToolCall::new(id.clone(), "read", r#"{"path":"src/main.rs"}"#)];
    let bytes = content.len() + 200;
    chat.push(&Message::assistant("I will look at the file.", calls));
    let (call_id, tool) = (CallId(id), "read".into());
    chat.push(&Message::Tool(ToolResult { call_id, tool, content, is_error: false, images: vec![] }));
    bytes
}

async fn call(chat: &mut dyn Chat) {
    chat.call(Ask { answered: 1 }, &mut |_| {}).await.expect("the script never ends");
}

fn cpu(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).expect("below a second"))
}
