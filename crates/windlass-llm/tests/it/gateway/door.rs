//! Who is let in, and how much they may send. Each attack has a twin that is let through.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use tokio::io::AsyncWriteExt;
use windlass_domain::BoxFuture;
use windlass_llm::Dialect;
use windlass_llm::gateway::{Body, Elsewhere, Gateway, GatewayParts, Limits};

use super::support::{AGENT_KEY, Desk, Ledger, parts, path, post, post_with, question, rehearsal};
use crate::support::{KEY, with_tokio};

const SCRIPT: &str = "version: 1\ntracks: { worker: [ { reply: Hello., repeat: forever } ] }";

fn asked() -> String {
    question(Dialect::Messages, "hi", false).to_string()
}

#[test]
fn only_the_key_opens_and_only_under_the_own_name() {
    with_tokio(async {
        let ledger = Ledger::open();
        let desk = Desk::over(rehearsal(SCRIPT), &ledger);
        let messages = path(Dialect::Messages);
        assert_eq!(desk.send(&post(messages, &asked())).await.status, 200);
        let by_header = format!("x-api-key: {AGENT_KEY}\r\n");
        assert_eq!(desk.send(&post_with(messages, &by_header, &asked())).await.status, 200);

        let wrong = desk.send(&post_with(messages, "x-api-key: agent-key-0123456780\r\n", &asked())).await;
        assert_eq!((wrong.status, wrong.json()["error"]["type"].as_str()), (401, Some("authentication_error")));
        assert_eq!(desk.send(&post_with(messages, "", &asked())).await.status, 401);
        for (host, status) in [("evil.example", 403), ("localhost:1", 200), ("127.0.0.1.evil.example", 403)] {
            let request = post(messages, &asked()).replace("host: 127.0.0.1", &format!("host: {host}"));
            assert_eq!(desk.send(&request).await.status, status, "{host}");
        }
        let lured =
            post(messages, &asked()).replace("connection: close", "connection: close\r\norigin: http://evil.example");
        assert_eq!(desk.send(&lured).await.status, 403);
        assert_eq!(ledger.opened(), 3, "nobody else was let through");
    });
}

#[test]
fn other_addresses_and_forms_are_refused_in_words_that_both_families_read() {
    with_tokio(async {
        let desk = Desk::over(rehearsal(SCRIPT), &Ledger::open());
        let nowhere = desk.send(&post("/v1/embeddings", "{}")).await;
        assert_eq!((nowhere.status, nowhere.json()["type"].as_str()), (404, Some("error")));
        assert!(nowhere.json()["error"]["message"].as_str().is_some_and(|message| message.contains("nothing at this")));
        let form = post(path(Dialect::Chat), &asked()).replace("application/json", "text/plain");
        assert_eq!(desk.send(&form).await.status, 415);
        assert_eq!(desk.send(&post(path(Dialect::Chat), "{\"model\":")).await.status, 400);
        let models = post("/v1/models", "").replace("POST", "GET");
        assert_eq!(desk.send(&models).await.json()["data"][0]["id"], "rehearsal/worker");
        let count = desk.send(&post("/v1/messages/count_tokens", &asked())).await.json();
        assert!(count["input_tokens"].as_u64().is_some_and(|tokens| tokens > 20), "tools count: {count}");
    });
}

#[test]
fn what_is_too_large_is_not_taken_in() {
    with_tokio(async {
        let ledger = Ledger::open();
        let limits = Limits { body: 4 << 10, ..Limits::default() };
        let desk = Desk::start(GatewayParts { limits, ..parts(rehearsal(SCRIPT), &ledger) });
        let padded = |length: usize| {
            let mut request = question(Dialect::Messages, "", false);
            request["messages"][0]["content"] = "x".repeat(length).into();
            request.to_string()
        };
        assert_eq!(desk.send(&post(path(Dialect::Messages), &padded(1_000))).await.status, 200);
        let large = padded(5_000);
        // Nothing of it but the head is needed to know.
        let head = post(path(Dialect::Messages), &large).split_inclusive("\r\n\r\n").next().expect("a head").to_owned();
        assert_eq!(desk.send(&head).await.status, 413);
        let chunked = post(path(Dialect::Messages), "").replace(
            "content-length: 0\r\n\r\n",
            &format!("transfer-encoding: chunked\r\n\r\n{:x}\r\n{large}\r\n", large.len()),
        );
        assert_eq!(desk.send(&chunked).await.status, 413);
        let long_head = post(path(Dialect::Messages), &padded(1))
            .replace("connection:", &format!("x-long: {}\r\nconnection:", "y".repeat(200 << 10)));
        assert_eq!(desk.send(&long_head).await.status, 431);
        assert_eq!(ledger.opened(), 1);
    });
}

#[test]
fn an_agent_that_is_slow_to_ask_is_not_waited_for() {
    with_tokio(async {
        let short = Duration::from_millis(30);
        let limits = Limits { idle: short, receiving: short, ..Limits::default() };
        let desk = Desk::start(GatewayParts { limits, ..parts(rehearsal(SCRIPT), &Ledger::open()) });
        let request = post(path(Dialect::Messages), &asked());
        // Half a head, and then nothing.
        let answer = desk.send(&request[..40]).await;
        assert_eq!((answer.status, answer.head.as_str()), (0, ""));
        // Half a body, and then nothing.
        let mut slow = desk.begin(&request[..request.len() - 5]).await;
        assert_eq!(slow.rest().await.status, 408);
        // A connection that stays open after its answer, and then nothing.
        let kept = request.replace("connection: close\r\n", "");
        assert_eq!(desk.send(&kept).await.status, 200);
    });
}

struct Echo;

impl Elsewhere for Echo {
    fn answer(&self, request: Request<hyper::body::Incoming>) -> BoxFuture<'_, Response<Body>> {
        let path = request.uri().path().to_owned();
        Box::pin(async move { Response::new(Box::pin(Text(Some(path.into()))) as Body) })
    }
}

struct Text(Option<bytes::Bytes>);

impl http_body::Body for Text {
    type Data = bytes::Bytes;
    type Error = windlass_llm::gateway::Torn;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        std::task::Poll::Ready(self.0.take().map(|bytes| Ok(http_body::Frame::data(bytes))))
    }
}

#[test]
fn others_share_the_address_behind_the_same_door() {
    with_tokio(async {
        let elsewhere = Some(("/mcp".to_owned(), Arc::new(Echo) as Arc<dyn Elsewhere>));
        let desk = Desk::start(GatewayParts { elsewhere, ..parts(rehearsal(SCRIPT), &Ledger::open()) });
        for (path, status, body) in [("/mcp", 200, "/mcp"), ("/mcp/x?y", 200, "/mcp/x"), ("/mcpx", 404, "nothing at")] {
            let answer = desk.send(&post(path, "{}")).await;
            assert!(answer.status == status && answer.body.contains(body), "{path}: {answer:?}");
        }
        assert_eq!(desk.send(&post_with("/mcp", "", "{}")).await.status, 401);
    });
}

#[test]
fn a_gateway_shows_no_key_and_has_one() {
    with_tokio(async {
        let made = |key: &str| {
            let upstream = super::support::model(Dialect::Chat, "http://127.0.0.1:1");
            let parts = parts(upstream, &Ledger::open());
            Gateway::new(GatewayParts { key: windlass_domain::Secret::new(key), ..parts })
        };
        let shown = format!("{:?}", made(AGENT_KEY).expect("a good address"));
        assert!(!shown.contains(AGENT_KEY) && !shown.contains(KEY), "{shown}");
        assert!(made("").expect_err("everybody would come in").to_string().contains("give it one"));
    });
}

#[test]
fn a_connection_carries_one_request_after_another() {
    with_tokio(async {
        let ledger = Ledger::open();
        let desk = Desk::over(rehearsal(SCRIPT), &ledger);
        let kept = post(path(Dialect::Messages), &asked()).replace("connection: close\r\n", "");
        let mut agent = desk.begin(&kept).await;
        agent.hears("Hello.").await;
        agent.stream.write_all(post(path(Dialect::Messages), &asked()).as_bytes()).await.expect("it listens");
        let _ = agent.rest().await;
        assert_eq!(ledger.closed().len(), 2);
    });
}
