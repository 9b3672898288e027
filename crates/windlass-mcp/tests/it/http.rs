//! Messages over HTTP: what is sent along, the shapes in which answers come, and what is said when none is wanted any more.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use windlass_domain::{BoxFuture, CancelSignal};
use windlass_mcp::{Body, Connector, Error, Http, Listing, Pins, Post, Posted, Server, Transport};
use windlass_runtime::TokioRuntime;

use crate::scripted::{Does, good, short, tool};

type Headers = Vec<(&'static str, String)>;
/// How an answer comes, if it comes.
type Shape = fn(&str) -> Option<Posted>;

#[derive(Clone)]
struct Web {
    shape: Shape,
    posted: Arc<Mutex<Vec<(Value, Headers)>>>,
}

/// What is left of an answer, portion by portion, and whether it ends then.
struct Rest {
    portions: VecDeque<Vec<u8>>,
    ends: bool,
}

impl Body for Rest {
    fn read(&mut self) -> BoxFuture<'_, Result<Vec<u8>, String>> {
        match self.portions.pop_front() {
            None if !self.ends => Box::pin(std::future::pending()),
            portion => Box::pin(std::future::ready(Ok(portion.unwrap_or_default()))),
        }
    }
}

fn posted(status: u16, content_type: &str, body: &str, ends: bool) -> Posted {
    let portions = body.as_bytes().chunks(7).map(<[u8]>::to_vec).collect();
    let session = Some("abc".to_owned());
    Posted { status, content_type: content_type.to_owned(), session, body: Box::new(Rest { portions, ends }) }
}

impl Post for Web {
    fn post(&self, headers: Headers, body: Vec<u8>) -> BoxFuture<'static, Result<Posted, String>> {
        let message: Value = serde_json::from_slice(&body).unwrap();
        let answer = match good(&message, &tool("d")).pop() {
            Some(Does::Says(line)) => (self.shape)(&line),
            _ => Some(posted(202, "", "", true)),
        };
        self.posted.lock().unwrap().push((message, headers));
        match answer {
            Some(answer) => Box::pin(std::future::ready(Ok(answer))),
            None => Box::pin(std::future::pending()),
        }
    }
}

impl Connector for Web {
    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn Transport>, String>> {
        let http = Http::new(Box::new(self.clone()), short().message_bytes);
        Box::pin(std::future::ready(Ok(Box::new(http) as Box<dyn Transport>)))
    }
}

fn json_answer(line: &str) -> Option<Posted> {
    Some(posted(200, "application/json", line, true))
}

fn events(line: &str) -> String {
    format!("event: message\ndata: {{\"method\":\"notifications/progress\"}}\n\ndata: {line}\n\n")
}

fn stream(line: &str) -> Option<Posted> {
    Some(posted(200, "text/event-stream; charset=utf-8", &events(line), true))
}

/// As many servers do it: the answer is there, and the stream stays.
fn open_stream(line: &str) -> Option<Posted> {
    Some(posted(200, "text/event-stream", &events(line), false))
}

fn server(shape: Shape) -> (Web, Server) {
    let web = Web { shape, posted: Arc::default() };
    let mut pins = Pins::default();
    pins.accept("s", &Listing::of("s", vec![tool("d")]));
    let pinned = pins.of("s").unwrap().clone();
    let server = Server::new("s", Box::new(web.clone()), pinned, Arc::new(TokioRuntime::current()), short());
    (web, server)
}

#[tokio::test]
async fn one_message_or_a_stream_of_them() {
    for shape in [json_answer as Shape, stream, open_stream] {
        let (web, server) = server(shape);
        let answer = server.call("t", &json!({}), &CancelSignal::never()).await.unwrap();
        assert_eq!(answer.text, "called with {}");
        let posted = web.posted.lock().unwrap();
        let session = |at: usize| posted[at].1.iter().find(|(name, _)| *name == "mcp-session-id").cloned();
        assert_eq!(session(0), None);
        assert!((1..posted.len()).all(|at| session(at) == Some(("mcp-session-id", "abc".to_owned()))));
        let version = ("mcp-protocol-version", "2025-06-18".to_owned());
        assert!(posted.iter().all(|(_, headers)| headers.contains(&version)));
    }
}

#[tokio::test]
async fn an_error_page_and_an_empty_answer_are_no_answers() {
    let unauthorised: Shape = |_| Some(posted(401, "", "who are you", true));
    let endless: Shape = |_| Some(posted(500, "", &"no ".repeat(1_000), false));
    let empty: Shape = |_| Some(posted(200, "", "", true));
    let broken_off: Shape = |line| Some(posted(200, "text/event-stream", &format!("data: {line}\n"), true));
    for shape in [unauthorised, endless, empty, broken_off] {
        let (_, server) = server(shape);
        let called = server.call("t", &json!({}), &CancelSignal::never()).await;
        assert!(matches!(called, Err(Error::Unreachable(_))), "{called:?}");
    }
}

/// Whether the server answers with a head at once or with nothing until it is done, it hears that nobody waits any more.
#[tokio::test]
async fn a_call_that_takes_too_long_is_taken_back() {
    let silent: Shape = |line| if line.contains("called with") { None } else { json_answer(line) };
    let dribbling: Shape = |line| {
        if line.contains("called with") {
            Some(posted(200, "text/event-stream", ": wait\n\n", false))
        } else {
            json_answer(line)
        }
    };
    for shape in [silent, dribbling] {
        let (web, server) = server(shape);
        let called = server.call("t", &json!({}), &CancelSignal::never()).await;
        assert!(matches!(called, Err(Error::Late { .. })), "{called:?}");
        let posted = web.posted.lock().unwrap();
        let call = posted.iter().find(|(message, _)| message["method"] == "tools/call").unwrap();
        let last = &posted.last().unwrap().0;
        assert_eq!(last["method"], "notifications/cancelled");
        assert_eq!(last["params"]["requestId"], call.0["id"]);
    }
}
