//! The embeddings endpoint: asked in batches and once for each text, believed only when its answer fits, and never
//! repeating the key.

use std::sync::Arc;

use windlass_domain::{Embedder as _, Secret};
use windlass_llm::{Embeddings, Endpoint};

use crate::support::{Act, KEY, TestServer, hasty_setup, http, with_tokio};

fn embeddings(server: &TestServer) -> Embeddings {
    let endpoint = Endpoint { base_url: server.url.clone(), key: Some(Secret::new(KEY)) };
    Embeddings::new(endpoint, "small".to_owned(), Arc::clone(&hasty_setup().runtime)).expect("a good address")
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// What one question comes to when the server does this.
fn asked(act: Act) -> Result<Vec<Vec<f32>>, String> {
    with_tokio(async { embeddings(&TestServer::start(vec![act]).await).embed(texts(&["a", "b"])).await })
}

#[test]
fn vectors_come_in_the_order_of_the_texts_and_are_remembered() {
    with_tokio(async {
        let first = r#"{"data":[{"index":1,"embedding":[0.5,1]},{"index":0,"embedding":[1,0]}]}"#;
        let second = r#"{"data":[{"index":0,"embedding":[2,2]}]}"#;
        let server = TestServer::start(vec![Act::Say(http(200, "", first)), Act::Say(http(200, "", second))]).await;
        let embeddings = embeddings(&server);
        assert_eq!(embeddings.embed(texts(&["a", "b"])).await, Ok(vec![vec![1.0, 0.0], vec![0.5, 1.0]]));
        assert_eq!(embeddings.embed(texts(&["b", "c"])).await, Ok(vec![vec![0.5, 1.0], vec![2.0, 2.0]]));
        let seen = server.seen();
        assert!(seen[0].head.starts_with("POST /v1/embeddings") && seen[0].head.contains(KEY), "{}", seen[0].head);
        assert_eq!(seen[1].body, r#"{"model":"small","input":["c"]}"#);
    });
}

#[test]
fn an_answer_that_does_not_fit_is_refused() {
    let check = |body: &str, expected: &str| {
        let error = asked(Act::Say(http(200, "", body))).expect_err(body);
        assert!(error.contains(expected), "{error}");
    };
    check(r#"{"data":[{"index":0,"embedding":[1]}]}"#, "1 of 2 texts");
    check(r#"{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}"#, "2 of 2 texts");
    check(r#"{"data":"none"}"#, "not what its API promises");
    check("<html>", "not what its API promises");
}

#[test]
fn what_the_server_says_is_told_without_the_key() {
    let error = asked(Act::Say(http(401, "", &format!("bad key {KEY}\u{1b}[2J")))).expect_err("refused");
    assert!(error.contains("401") && !error.contains(KEY) && !error.contains('\u{1b}'), "{error}");
    let error = asked(Act::SayAndHangUp(String::new())).expect_err("no answer");
    assert!(!error.is_empty());
}
