//! The property: no bytes make it panic, hang or answer what is no message.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_domain::Secret;
use windlass_mcp::serve::{Endpoint, Limits, Server, serve_lines};
use windlass_runtime::{Threads, TokioRuntime};

use crate::serve::desk::{Desk, TOKEN, hasty};

/// JSON that looks like messages, more or less.
fn nearly() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,12}".prop_map(|text| json!(text)),
        prop_oneof![
            Just("2.0"),
            Just("initialize"),
            Just("tools/call"),
            Just("tools/list"),
            Just("server/discover"),
            Just("notifications/cancelled"),
            Just("echo"),
            Just("2026-07-28"),
        ]
        .prop_map(|word| json!(word)),
    ];
    let key = prop_oneof![
        Just("jsonrpc"),
        Just("id"),
        Just("method"),
        Just("params"),
        Just("name"),
        Just("arguments"),
        Just("_meta"),
        Just("text"),
        Just("requestId"),
        Just("protocolVersion"),
        Just("io.modelcontextprotocol/protocolVersion"),
        Just("io.modelcontextprotocol/clientCapabilities"),
    ];
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// With what every message has, so that some get further.
fn message() -> impl Strategy<Value = Vec<u8>> {
    nearly().prop_map(|mut value| {
        if let Value::Object(fields) = &mut value {
            fields.insert("jsonrpc".to_owned(), json!("2.0"));
        }
        value.to_string().into_bytes()
    })
}

fn conversation() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![message(), prop::collection::vec(any::<u8>(), 0..80)];
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join(&b'\n'))
}

/// A head that is nearly right.
fn head() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let of = |name: &'static str, words: &'static [&'static str]| {
        let word = prop_oneof![
            4 => prop::sample::select(words).prop_map(|word| Some(word.to_owned())),
            1 => "[ -~]{0,20}".prop_map(Some),
            1 => Just(None),
        ];
        word.prop_map(move |word| word.map(|word| (name, word)))
    };
    let fields = (
        of("host", &["127.0.0.1:1", "localhost"]),
        of("authorization", &["Bearer a-token-of-this-execution"]),
        of("origin", &["http://localhost"]),
        of("content-type", &["application/json"]),
        of("accept", &["application/json, text/event-stream", "application/json", "text/event-stream"]),
        of("mcp-session-id", &["0"]),
        of("mcp-protocol-version", &["2025-06-18", "2026-07-28"]),
        of("mcp-method", &["tools/call", "tools/list", "server/discover"]),
    );
    fields.prop_map(|(a, b, c, d, e, f, g, h)| [a, b, c, d, e, f, g, h].into_iter().flatten().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_bytes_make_it_panic(bytes in conversation(), is_greeted in any::<bool>()) {
        let executor = windlass_runtime::executor(Threads::One).unwrap();
        let runtime = Arc::new(TokioRuntime::new(executor.handle().clone()));
        let limits = Limits { farewell: std::time::Duration::from_millis(1), message_bytes: 4_000, ..Limits::default() };
        let server = Server::new(Arc::new(Desk::default()), runtime, limits);
        let mut input = Vec::new();
        if is_greeted {
            input.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"x\"}}\n");
        }
        input.extend_from_slice(&bytes);
        let mut output = Vec::new();
        executor.block_on(serve_lines(&server, input.as_slice(), &mut output)).unwrap();
        for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let answer: Value = serde_json::from_slice(line).unwrap();
            prop_assert!(answer["jsonrpc"] == "2.0");
            prop_assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
        }
    }

    #[test]
    fn no_request_makes_it_panic(
        head in head(),
        method in prop::sample::select(&["POST", "POST", "POST", "GET", "DELETE", "PUT"][..]),
        body in prop_oneof![message(), prop::collection::vec(any::<u8>(), 0..80)],
    ) {
        let executor = windlass_runtime::executor(Threads::One).unwrap();
        let runtime = Arc::new(TokioRuntime::new(executor.handle().clone()));
        let server = Server::new(Arc::new(Desk::default()), runtime, hasty());
        let endpoint = Endpoint::new(server, Secret::new(TOKEN));
        let mut request = http::Request::builder().method(method).uri("/mcp");
        for (name, value) in &head {
            request = request.header(*name, value.as_str());
        }
        let request = request.body(Once(Some(body.into()))).unwrap();
        let status = executor.block_on(async { endpoint.answer(request).await.status().as_u16() });
        prop_assert!((200..500).contains(&status), "{status}");
        if head.iter().all(|(name, _)| *name != "authorization") {
            prop_assert!(matches!(status, 401 | 403), "{status}");
        }
    }
}

/// A body in one piece.
struct Once(Option<bytes::Bytes>);

impl http_body::Body for Once {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(http_body::Frame::data(bytes))))
    }
}
