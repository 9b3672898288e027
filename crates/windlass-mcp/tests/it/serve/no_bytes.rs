//! The property: no bytes make it panic, hang or answer what is no message.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_mcp::serve::{Limits, Server, serve_lines};
use windlass_runtime::{Threads, TokioRuntime};

use crate::serve::desk::Desk;

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
}
