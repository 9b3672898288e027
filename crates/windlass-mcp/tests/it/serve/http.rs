//! The endpoint, request by request, without a socket.

use std::pin::Pin;

use http::{Method, Request, Response};
use http_body::Body as HttpBody;
use serde_json::{Value, json};
use windlass_mcp::serve::{Body, Endpoint, Limits};

use crate::serve::desk::{Desk, TOKEN, alone, call, greeting, hasty, one, request};

type Headers<'a> = &'a [(&'a str, &'a str)];

fn asked(method: Method, headers: Headers<'_>, body: &str) -> Request<String> {
    let mut request = Request::builder().method(method).uri("/mcp");
    let usual = [
        ("host", "127.0.0.1:4000"),
        ("authorization", &format!("Bearer {TOKEN}")),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    for (name, value) in usual.into_iter().filter(|(name, _)| headers.iter().all(|(other, _)| other != name)) {
        request = request.header(name, value);
    }
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        request = request.header(*name, *value);
    }
    request.body(body.to_owned()).unwrap()
}

async fn frame(body: &mut Body) -> Option<String> {
    let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?.unwrap();
    Some(String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap())
}

async fn text(response: Response<Body>) -> String {
    let mut body = response.into_body();
    let mut text = String::new();
    while let Some(more) = frame(&mut body).await {
        text.push_str(&more);
    }
    text
}

async fn json_of(response: Response<Body>) -> Value {
    serde_json::from_str(&text(response).await).unwrap()
}

async fn post(endpoint: &Endpoint, headers: Headers<'_>, message: &Value) -> Response<Body> {
    endpoint.answer(asked(Method::POST, headers, &message.to_string())).await
}

async fn session(endpoint: &Endpoint) -> String {
    let response = post(endpoint, &[], &greeting("2025-06-18")).await;
    response.headers()["mcp-session-id"].to_str().unwrap().to_owned()
}

fn status(response: &Response<Body>) -> u16 {
    response.status().as_u16()
}

#[tokio::test]
async fn a_session_is_greeted_listed_called_and_ended() {
    let endpoint = Desk::default().endpoint(Limits::default());
    let response = post(&endpoint, &[], &greeting("2025-06-18")).await;
    let name = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    assert_eq!(json_of(response).await["result"]["protocolVersion"], "2025-06-18");
    let headers = [("mcp-session-id", name.as_str()), ("mcp-protocol-version", "2025-06-18")];
    let ready = post(&endpoint, &headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    assert_eq!((status(&ready), text(ready).await.as_str()), (202, ""));
    let list = json_of(post(&endpoint, &headers, &request(1, "tools/list", json!({}))).await).await;
    assert_eq!(list["result"]["tools"][0]["name"], "echo");
    let echo = json_of(post(&endpoint, &headers, &call(2, "echo", json!({"text": "hi"}))).await).await;
    assert_eq!(echo["result"]["structuredContent"], json!({"text": "hi"}));
    assert_eq!(status(&endpoint.answer(asked(Method::DELETE, &headers, "")).await), 204);
    assert_eq!(status(&post(&endpoint, &headers, &request(3, "ping", json!({}))).await), 404);
}

#[tokio::test]
async fn who_is_not_let_in_learns_nothing() {
    let endpoint = Desk::default().endpoint(Limits::default());
    let message = greeting("2025-06-18");
    for (headers, expected) in [
        ([("authorization", "Bearer wrong")], 401),
        ([("authorization", "")], 401),
        ([("host", "evil.example")], 403),
        ([("origin", "http://evil.example")], 403),
        ([("content-type", "text/plain")], 415),
        ([("accept", "text/html")], 406),
    ] {
        let response = post(&endpoint, &headers, &message).await;
        assert_eq!(status(&response), expected, "{headers:?}");
        assert!(response.headers().get("mcp-session-id").is_none());
        assert!(response.headers().get("access-control-allow-origin").is_none());
    }
    // The twin.
    assert_eq!(status(&post(&endpoint, &[("origin", "http://localhost:1")], &message).await), 200);
}

#[tokio::test]
async fn a_session_must_be_named_and_known() {
    let endpoint = Desk::default().endpoint(Limits::default());
    let ping = request(1, "ping", json!({}));
    assert_eq!(status(&post(&endpoint, &[], &ping).await), 400);
    let unknown = post(&endpoint, &[("mcp-session-id", "nonsense")], &ping).await;
    assert_eq!(status(&unknown), 404);
    assert_eq!(json_of(unknown).await["id"], 1);
    let name = session(&endpoint).await;
    let strange = [("mcp-session-id", name.as_str()), ("mcp-protocol-version", "1999-01-01")];
    assert_eq!(status(&post(&endpoint, &strange, &ping).await), 400);
    assert_eq!(status(&post(&endpoint, &[("mcp-session-id", &name)], &ping).await), 200);
    assert_eq!(status(&endpoint.answer(asked(Method::DELETE, &[], "")).await), 400);
    assert_eq!(status(&endpoint.answer(asked(Method::PUT, &[], "")).await), 405);
}

#[tokio::test]
async fn what_cannot_be_read_is_answered() {
    let limits = Limits { message_bytes: 1_000, ..Limits::default() };
    let endpoint = Desk::default().endpoint(limits);
    let batch = format!("[{}]", request(1, "ping", json!({})));
    for (body, expected, code) in
        [("{", 400, -32700), (batch.as_str(), 400, -32600), ("{}", 400, -32600), (&"x".repeat(1_001), 413, -32600)]
    {
        let response = endpoint.answer(asked(Method::POST, &[], body)).await;
        assert_eq!(status(&response), expected, "{body}");
        assert_eq!(json_of(response).await["error"]["code"], code, "{body}");
    }
}

#[tokio::test]
async fn a_body_that_never_ends_is_not_waited_for() {
    struct Slow;
    impl HttpBody for Slow {
        type Data = bytes::Bytes;
        type Error = std::io::Error;
        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, std::io::Error>>> {
            std::task::Poll::Pending
        }
    }
    let limits = Limits { arrival: std::time::Duration::from_millis(1), ..Limits::default() };
    let endpoint = Desk::default().endpoint(limits);
    let response = endpoint.answer(asked(Method::POST, &[], "").map(|_| Slow)).await;
    assert_eq!(status(&response), 408);
}

#[tokio::test]
async fn a_call_that_takes_long_is_answered_by_a_stream() {
    let desk = Desk::default();
    let endpoint = desk.endpoint(hasty());
    let name = session(&endpoint).await;
    let response = post(&endpoint, &[("mcp-session-id", &name)], &call(7, "hold", json!({}))).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    // Something is said before there is an answer, and again.
    for _ in 0..2 {
        assert_eq!(frame(&mut body).await.unwrap(), ": still here\n\n");
    }
    desk.let_go.add_permits(1);
    let event = loop {
        match frame(&mut body).await.unwrap() {
            comment if comment.starts_with(':') => {}
            event => break event,
        }
    };
    let data = event.strip_prefix("event: message\ndata: ").unwrap();
    let answer: Value = serde_json::from_str(data.trim_end()).unwrap();
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(7), &json!("let go")));
    assert_eq!(frame(&mut body).await, None);
}

#[tokio::test]
async fn who_takes_only_one_form_gets_it() {
    let desk = Desk::default();
    let endpoint = desk.endpoint(hasty());
    let name = session(&endpoint).await;
    let only_stream = [("mcp-session-id", name.as_str()), ("accept", "text/event-stream")];
    let response = post(&endpoint, &only_stream, &call(1, "echo", json!({"text": "hi"}))).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert!(text(response).await.contains("\"hi\""));
    let only_json = [("mcp-session-id", name.as_str()), ("accept", "application/json")];
    desk.let_go.add_permits(1);
    let response = post(&endpoint, &only_json, &call(2, "hold", json!({}))).await;
    assert_eq!(response.headers()["content-type"], "application/json");
}

#[tokio::test]
async fn a_call_is_taken_back_by_its_own_session() {
    let desk = Desk::default();
    let endpoint = desk.endpoint(hasty());
    let (name, other) = (session(&endpoint).await, session(&endpoint).await);
    let headers = [("mcp-session-id", name.as_str())];
    let response = post(&endpoint, &headers, &call(7, "hold", json!({}))).await;
    one(&desk.begun).await;
    let unwanted = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(status(&post(&endpoint, &[("mcp-session-id", &other)], &unwanted).await), 202);
    // The same id again while it runs is a mistake.
    assert_eq!(status(&post(&endpoint, &headers, &call(7, "echo", json!({"text": "x"}))).await), 400);
    assert_eq!(desk.given_up.available_permits(), 0);
    assert_eq!(status(&post(&endpoint, &headers, &unwanted).await), 202);
    one(&desk.given_up).await;
    let said = text(response).await;
    assert!(!said.contains("data:"), "what was taken back has no answer: {said}");
    // Nor for who takes no stream.
    let plain = [("mcp-session-id", name.as_str()), ("accept", "application/json")];
    let held = call(8, "hold", json!({}));
    let unwanted = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}});
    let taken_back = async {
        one(&desk.begun).await;
        post(&endpoint, &headers, &unwanted).await
    };
    let (response, _) = tokio::join!(post(&endpoint, &plain, &held), taken_back);
    assert_eq!((status(&response), text(response).await.as_str()), (202, ""));
}

#[tokio::test]
async fn in_a_session_a_broken_connection_ends_no_call_and_without_one_it_does() {
    let desk = Desk::default();
    let endpoint = desk.endpoint(hasty());
    let name = session(&endpoint).await;
    let response = post(&endpoint, &[("mcp-session-id", &name)], &call(1, "hold", json!({}))).await;
    one(&desk.begun).await;
    drop(response);
    desk.let_go.add_permits(1);
    // Both are called now; only the one that runs on takes the leave to go.
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "hold")];
    let response = {
        while desk.let_go.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        post(&endpoint, &headers, &alone(call(1, "hold", json!({})))).await
    };
    one(&desk.begun).await;
    assert_eq!(desk.given_up.available_permits(), 0);
    drop(response);
    one(&desk.given_up).await;
}

#[tokio::test]
async fn the_newest_revision_needs_no_session() {
    let endpoint = Desk::default().endpoint(Limits::default());
    let headers = |method: &'static str| [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    let discover = alone(request(1, "server/discover", json!({})));
    let found = json_of(post(&endpoint, &headers("server/discover"), &discover).await).await;
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    let unknown = post(&endpoint, &headers("resources/list"), &alone(request(2, "resources/list", json!({})))).await;
    assert_eq!(status(&unknown), 404);
    assert_eq!(status(&post(&endpoint, &headers("tools/call"), &discover).await), 400);
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(status(&post(&endpoint, &headers("x"), &notice).await), 202);
}

#[tokio::test]
async fn one_listens_and_hears_the_end() {
    let endpoint = Desk::default().endpoint(hasty());
    let name = session(&endpoint).await;
    let headers = [("mcp-session-id", name.as_str()), ("accept", "text/event-stream")];
    let listen = || endpoint.answer(asked(Method::GET, &headers, ""));
    let mut first = listen().await.into_body();
    assert_eq!(frame(&mut first).await.unwrap(), ": still here\n\n");
    assert_eq!(status(&listen().await), 409);
    drop(first);
    let second = listen().await;
    assert_eq!(status(&second), 200);
    endpoint.answer(asked(Method::DELETE, &headers, "")).await;
    assert_eq!(text(second).await, "");
    assert_eq!(status(&listen().await), 404);
}

#[tokio::test]
async fn one_session_too_many_ends_the_one_used_least_lately() {
    let endpoint = Desk::default().endpoint(Limits { sessions: 2, ..Limits::default() });
    let (first, second) = (session(&endpoint).await, session(&endpoint).await);
    let ping =
        async |name: &str| status(&post(&endpoint, &[("mcp-session-id", name)], &request(1, "ping", json!({}))).await);
    assert_eq!(ping(&first).await, 200);
    let third = session(&endpoint).await;
    assert_eq!((ping(&first).await, ping(&second).await, ping(&third).await), (200, 404, 200));
}

#[tokio::test]
async fn too_many_calls_at_once_are_refused() {
    let desk = Desk::default();
    let endpoint = desk.endpoint(Limits { calls: 1, ..hasty() });
    let name = session(&endpoint).await;
    let headers = [("mcp-session-id", name.as_str())];
    let first = post(&endpoint, &headers, &call(1, "hold", json!({}))).await;
    one(&desk.begun).await;
    let second = json_of(post(&endpoint, &headers, &call(2, "hold", json!({}))).await).await;
    assert_eq!(second["error"]["code"], -32000);
    desk.let_go.add_permits(1);
    assert!(text(first).await.contains("let go"));
    let third = json_of(post(&endpoint, &headers, &call(3, "echo", json!({"text": "x"}))).await).await;
    assert_eq!(third["result"]["isError"], false);
}

#[tokio::test]
async fn an_endpoint_dies_with_its_execution() {
    let desk = Desk::default();
    let endpoint = desk.endpoint(hasty());
    let name = session(&endpoint).await;
    let headers = [("mcp-session-id", name.as_str())];
    let running = post(&endpoint, &headers, &call(1, "hold", json!({}))).await;
    one(&desk.begun).await;
    endpoint.close();
    one(&desk.given_up).await;
    assert!(text(running).await.contains("the execution has ended"));
    assert_eq!(status(&post(&endpoint, &headers, &request(2, "ping", json!({}))).await), 410);
    assert_eq!(status(&post(&endpoint, &[], &greeting("2025-06-18")).await), 410);
}

#[tokio::test]
async fn a_call_that_breaks_is_answered() {
    let endpoint = Desk::default().endpoint(Limits::default());
    let name = session(&endpoint).await;
    let answer = json_of(post(&endpoint, &[("mcp-session-id", &name)], &call(1, "break", json!({}))).await).await;
    assert_eq!(answer["error"]["code"], -32603);
}
