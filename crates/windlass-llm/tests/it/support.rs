//! What the tests stand on: a server that answers with exactly the bytes it is told to, a runtime whose time passes only
//! when there is nothing else to do, and short ways to open chats.

#![expect(clippy::disallowed_methods, reason = "tests build their own executor and serve their own sockets")]

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use windlass_domain::{BoxFuture, Delta, Instant, Message, Role, Runtime, Secret, ToolResult, ToolSpec, Wall};
use windlass_llm::{
    Anthropic, Ask, Chat, Endpoint, Error, OpenAi, Opening, Provider, Response, Responses, Retries, Setup,
};
use windlass_runtime::TokioRuntime;

pub const KEY: &str = "sk-verysecret-0123456789";

/// Runs a test that needs sockets.
pub fn with_tokio<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(test)
}

/// Real time, for tests with sockets, in a hurry: a retry comes after a millisecond.
pub fn hasty_setup() -> Setup {
    let runtime = Arc::new(TokioRuntime::new(tokio::runtime::Handle::current()));
    let retries = Retries { backoff_base: Duration::from_millis(1), ..Retries::default() };
    Setup { retries, ..Setup::new(runtime) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    OpenAi,
    Responses,
    Anthropic,
}

pub const WIRES: [Wire; 3] = [Wire::OpenAi, Wire::Responses, Wire::Anthropic];

impl Wire {
    pub fn provider(self, base_url: &str, setup: Setup) -> Result<Box<dyn Provider>, Error> {
        let endpoint = Endpoint { base_url: base_url.to_owned(), key: Some(Secret::new(KEY)) };
        Ok(match self {
            Self::OpenAi => Box::new(OpenAi::new(endpoint, setup)?),
            Self::Responses => Box::new(Responses::new(endpoint, setup)?),
            Self::Anthropic => Box::new(Anthropic::new(endpoint, setup)?),
        })
    }

    /// The events of an answer of these words.
    pub fn events(self, text: &str) -> String {
        let text = serde_json::json!(text);
        match self {
            Self::OpenAi => format!(
                "data: {{\"id\":\"r1\",\"choices\":[{{\"delta\":{{\"content\":{text}}},\"finish_reason\":\"stop\"}}]}}\n\n\
                 data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":7,\"completion_tokens\":3}}}}\n\ndata: [DONE]\n\n"
            ),
            Self::Responses => format!(
                "data: {{\"type\":\"response.created\",\"response\":{{\"id\":\"r1\"}}}}\n\n\
                 data: {{\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":{text}}}\n\n\
                 data: {{\"type\":\"response.completed\",\"response\":{{\"status\":\"completed\",\
                 \"usage\":{{\"input_tokens\":7,\"output_tokens\":3}}}}}}\n\n"
            ),
            Self::Anthropic => format!(
                "data: {{\"type\":\"message_start\",\"message\":{{\"id\":\"r1\",\"usage\":{{\"input_tokens\":7}}}}}}\n\n\
                 data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":{text}}}}}\n\n\
                 data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\"}},\"usage\":{{\"output_tokens\":3}}}}\n\n\
                 data: {{\"type\":\"message_stop\"}}\n\n"
            ),
        }
    }

    /// The same up to the end of the words.
    pub fn events_cut(self, text: &str) -> String {
        let mut events = self.events(text);
        let words = events.find(text).expect("the words");
        events.truncate(words + events[words..].find("\n\n").expect("the event's end") + 2);
        events
    }

    pub fn answer(self, text: &str) -> String {
        http(200, "content-type: text/event-stream\r\n", &self.events(text))
    }
}

/// A whole HTTP response.
pub fn http(status: u16, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

/// The beginning of a streamed response: more is promised than comes.
pub fn http_begun(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n", body.len())
}

pub fn opening(system: &str) -> Opening<'_> {
    Opening {
        model: "gpt-4o",
        temperature: None,
        max_output_tokens: None,
        system,
        tools: &[],
        answer_schema: None,
        agent: "tester",
        role: Role::Executor,
    }
}

pub fn tool(name: &str) -> ToolSpec {
    let parameters = serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}});
    ToolSpec { name: name.to_owned(), description: format!("Does {name}."), parameters }
}

pub fn user(text: &str) -> Message {
    Message::user(text)
}

/// The answer as the loop pushes it, and a result for each of its calls.
pub fn turn(response: &Response, result: &str) -> Vec<Message> {
    let Response { text, calls, reasoning, .. } = response.clone();
    let answer = Message::Assistant { text, calls, reasoning };
    let results = response.calls.iter().map(|call| {
        Message::Tool(ToolResult {
            call_id: call.call_id.clone(),
            tool: call.tool.clone(),
            content: result.to_owned(),
            is_error: false,
            images: vec![],
        })
    });
    std::iter::once(answer).chain(results).collect()
}

/// One call, and what a watcher saw.
pub async fn ask(chat: &mut dyn Chat, answered: u32) -> (Result<Response, Error>, Vec<Delta>) {
    let mut seen = Vec::new();
    let result = chat.call(Ask { answered }, &mut |delta| seen.push(delta)).await;
    (result, seen)
}

/// What was streamed, with a bar where it began again.
pub fn streamed(deltas: &[Delta]) -> String {
    let text = |delta: &Delta| match delta {
        Delta::Text(text) => text.clone(),
        Delta::Retrying { .. } => "|".to_owned(),
        _ => String::new(),
    };
    deltas.iter().map(text).collect()
}

/// What a test server does with one request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Writes this and waits for the next request on the connection.
    Say(String),
    /// Writes this and closes the connection.
    SayAndHangUp(String),
    /// Writes this and nothing more, with the connection open.
    SayAndFallSilent(String),
    /// Writes the one, and the other when the test says so.
    SayAndFinishLater(String, String),
}

impl Act {
    fn text(&self) -> &str {
        match self {
            Self::Say(text) | Self::SayAndHangUp(text) | Self::SayAndFallSilent(text) => text,
            Self::SayAndFinishLater(text, _) => text,
        }
    }
}

/// Answers its requests by a list of acts, one for each, whatever the connection; then hangs up on all.
pub struct TestServer {
    pub url: String,
    script: Script,
}

#[derive(Debug, Clone)]
pub struct Seen {
    /// Which connection it came through, counted from zero.
    pub connection: usize,
    pub head: String,
    pub body: String,
}

#[derive(Clone)]
struct Script {
    acts: Arc<Mutex<std::vec::IntoIter<Act>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    asked: Arc<tokio::sync::Semaphore>,
    hung_up: Arc<tokio::sync::Semaphore>,
    finish: Arc<tokio::sync::Semaphore>,
}

impl TestServer {
    pub async fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let script = Script {
            acts: Arc::new(Mutex::new(acts.into_iter())),
            seen: Arc::default(),
            asked: Arc::new(tokio::sync::Semaphore::new(0)),
            hung_up: Arc::new(tokio::sync::Semaphore::new(0)),
            finish: Arc::new(tokio::sync::Semaphore::new(0)),
        };
        let served = script.clone();
        tokio::spawn(async move {
            for connection in 0.. {
                let Ok((stream, _)) = listener.accept().await else { return };
                tokio::spawn(served.clone().converse(stream, connection));
            }
        });
        Self { url, script }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.script.seen.lock().expect("no test thread panicked").clone()
    }

    /// Waits until a request has come.
    pub async fn asked(&self) {
        self.script.asked.acquire().await.expect("never closed").forget();
    }

    /// Lets it say the rest.
    pub fn finish(&self) {
        self.script.finish.add_permits(1);
    }

    /// Waits until a client has closed a connection on which this fell silent.
    pub async fn client_hung_up(&self) {
        self.script.hung_up.acquire().await.expect("never closed").forget();
    }
}

impl Script {
    async fn converse(self, mut stream: TcpStream, connection: usize) {
        while let Some((head, body)) = read_request(&mut stream).await {
            self.seen.lock().expect("no panic").push(Seen { connection, head, body });
            self.asked.add_permits(1);
            let act = self.acts.lock().expect("no panic").next();
            let Some(act) = act else { return };
            stream.write_all(act.text().as_bytes()).await.expect("the client listens");
            match act {
                Act::Say(_) => {}
                Act::SayAndHangUp(_) => return,
                Act::SayAndFallSilent(_) => {
                    // Until the client has had enough, which ends in no bytes or an error.
                    let _ = stream.read(&mut [0; 64]).await;
                    self.hung_up.add_permits(1);
                    return;
                }
                Act::SayAndFinishLater(_, rest) => {
                    self.finish.acquire().await.expect("never closed").forget();
                    stream.write_all(rest.as_bytes()).await.expect("the client listens");
                }
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            let body = &bytes[end + 4..];
            if body.len() >= length.expect("requests have a known length") {
                return Some((head, String::from_utf8_lossy(body).into_owned()));
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Real time, and a count of the tasks that have come to their end.
pub struct Counting {
    inner: TokioRuntime,
    ended: Arc<tokio::sync::Semaphore>,
}

impl Counting {
    pub fn setup() -> (Arc<Self>, Setup) {
        let inner = TokioRuntime::new(tokio::runtime::Handle::current());
        let counting = Arc::new(Self { inner, ended: Arc::new(tokio::sync::Semaphore::new(0)) });
        (counting.clone(), Setup::new(counting))
    }

    pub async fn a_task_has_ended(&self) {
        self.ended.acquire().await.expect("never closed").forget();
    }
}

impl Runtime for Counting {
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        let ended = self.ended.clone();
        self.inner.spawn(Box::pin(async move {
            task.await;
            ended.add_permits(1);
        }));
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        self.inner.sleep_until(deadline)
    }

    fn block(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        self.inner.block(work)
    }

    fn now(&self) -> Instant {
        self.inner.now()
    }

    fn wall(&self) -> Wall {
        self.inner.wall()
    }

    fn random(&self) -> u128 {
        self.inner.random()
    }
}

/// Time that passes only when everybody waits for it, and dice that always show the same.
#[derive(Clone, Default)]
pub struct Still {
    clock: Arc<Mutex<Clock>>,
}

#[derive(Default)]
struct Clock {
    now: Instant,
    timers: BTreeSet<Instant>,
}

impl Still {
    pub fn setup() -> (Self, Setup) {
        let still = Self::default();
        (still.clone(), Setup::new(Arc::new(still)))
    }

    /// Runs `future` to its end; whenever it waits, the next timer goes off.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            let mut clock = self.clock.lock().expect("one thread");
            clock.now = clock.timers.pop_first().expect("it waits for something other than time");
        }
    }

    pub fn elapsed(&self) -> Duration {
        self.now().elapsed_since_start()
    }
}

impl Runtime for Still {
    fn spawn(&self, _: BoxFuture<'static, ()>) {
        panic!("nothing here should need a task");
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        let clock = Arc::clone(&self.clock);
        Box::pin(std::future::poll_fn(move |_| {
            let mut clock = clock.lock().expect("one thread");
            if clock.now >= deadline {
                return Poll::Ready(());
            }
            clock.timers.insert(deadline);
            Poll::Pending
        }))
    }

    fn block(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        work();
        Box::pin(std::future::ready(()))
    }

    fn now(&self) -> Instant {
        self.clock.lock().expect("one thread").now
    }

    fn wall(&self) -> Wall {
        Wall::from_millis(1_794_700_800_000)
    }

    fn random(&self) -> u128 {
        0
    }
}
