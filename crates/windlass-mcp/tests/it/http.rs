//! Messages over HTTP: what is sent along, and the two shapes in which answers come.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use windlass_domain::{BoxFuture, CancelSignal};
use windlass_mcp::{Connector, Error, Http, Listing, Pins, Post, Posted, Server, Transport};
use windlass_runtime::TokioRuntime;

use crate::scripted::{Does, good, short, tool};

type Headers = Vec<(&'static str, String)>;
type Shape = fn(&str) -> Posted;

#[derive(Clone)]
struct Web {
    shape: Shape,
    posted: Arc<Mutex<Vec<(Value, Headers)>>>,
}

impl Post for Web {
    fn post<'a>(&'a self, headers: Headers, body: &'a [u8]) -> BoxFuture<'a, Result<Posted, String>> {
        let message: Value = serde_json::from_slice(body).unwrap();
        let answer = match good(&message, &tool("d")).pop() {
            Some(Does::Says(line)) => (self.shape)(&line),
            _ => Posted { status: 202, ..Posted::default() },
        };
        self.posted.lock().unwrap().push((message, headers));
        Box::pin(std::future::ready(Ok(answer)))
    }
}

impl Connector for Web {
    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn Transport>, String>> {
        let http = Http::new(Box::new(self.clone()));
        Box::pin(std::future::ready(Ok(Box::new(http) as Box<dyn Transport>)))
    }
}

fn json_answer(line: &str) -> Posted {
    Posted {
        status: 200,
        content_type: "application/json".to_owned(),
        session: Some("abc".to_owned()),
        body: line.as_bytes().to_vec(),
    }
}

fn stream(line: &str) -> Posted {
    let body = format!("event: message\ndata: {{\"method\":\"notifications/progress\"}}\n\ndata: {line}\n\n");
    Posted { content_type: "text/event-stream; charset=utf-8".to_owned(), body: body.into_bytes(), ..json_answer(line) }
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
    for shape in [json_answer as Shape, stream] {
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
    let unauthorised = |_: &str| Posted { status: 401, body: b"who are you".to_vec(), ..Posted::default() };
    let empty = |_: &str| Posted { status: 200, ..Posted::default() };
    for shape in [unauthorised as Shape, empty] {
        let (_, server) = server(shape);
        let called = server.call("t", &json!({}), &CancelSignal::never()).await;
        assert!(matches!(called, Err(Error::Unreachable(_))), "{called:?}");
    }
}
