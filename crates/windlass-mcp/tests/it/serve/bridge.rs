//! Lines at one end, a real socket with an endpoint behind it at the other.

use std::sync::Arc;

use serde_json::json;
use windlass_domain::Secret;
use windlass_mcp::serve::{Bridge, Limits};
use windlass_runtime::TokioRuntime;

use crate::serve::desk::{Desk, TOKEN, alone, call, greeting, hasty, one, request};
use crate::serve::lines::Client;
use crate::serve::listener::Listening;

pub fn bridge(url: &str, token: &str) -> Bridge {
    let runtime = Arc::new(TokioRuntime::current());
    Bridge::new(url, Secret::new(token), runtime, Limits::default()).expect("an address of this machine")
}

fn bridged(url: &str, token: &str) -> (Client, impl Future<Output = std::io::Result<()>> + use<>) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    let bridge = bridge(url, token);
    (Client::new(ours), async move { bridge.forward(reader, writer).await })
}

#[tokio::test]
async fn a_conversation_over_the_bridge() {
    let desk = Desk::default();
    let listening = Listening::start(desk.endpoint(hasty())).await;
    let (mut client, bridge) = bridged(&listening.url(), TOKEN);
    let talk = async {
        assert_eq!(client.ask(&request(1, "tools/list", json!({}))).await["error"]["code"], -32600);
        assert_eq!(client.ask(&greeting("2025-06-18")).await["result"]["protocolVersion"], "2025-06-18");
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        let echo = client.ask(&call(2, "echo", json!({"text": "a\nb"}))).await;
        assert_eq!(echo["result"]["structuredContent"]["text"], "a\nb");
        client.write("nonsense\n").await;
        assert_eq!(client.hear().await.unwrap()["error"]["code"], -32700);
        // By a stream, as it takes long; and taken back.
        client.say(&call(3, "hold", json!({}))).await;
        client.say(&call(4, "hold", json!({}))).await;
        one(&desk.begun).await;
        one(&desk.begun).await;
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})).await;
        one(&desk.given_up).await;
        desk.let_go.add_permits(1);
        assert_eq!(client.hear().await.unwrap()["id"], 4);
        client.finish().await;
        assert_eq!(client.hear().await, None);
    };
    let ((), ended) = tokio::join!(talk, bridge);
    ended.unwrap();
}

#[tokio::test]
async fn requests_of_the_newest_revision_pass_and_are_taken_back() {
    let desk = Desk::default();
    let listening = Listening::start(desk.endpoint(hasty())).await;
    let (mut client, bridge) = bridged(&listening.url(), TOKEN);
    let talk = async {
        assert_eq!(
            client.ask(&alone(call(1, "echo", json!({"text": "hi"})))).await["result"]["resultType"],
            "complete"
        );
        client.say(&alone(call(2, "hold", json!({})))).await;
        one(&desk.begun).await;
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})).await;
        one(&desk.given_up).await;
        client.finish().await;
        assert_eq!(client.hear().await, None);
    };
    let ((), ended) = tokio::join!(talk, bridge);
    ended.unwrap();
}

#[tokio::test]
async fn what_goes_wrong_is_told_to_who_asked() {
    let listening = Listening::start(Desk::default().endpoint(Limits::default())).await;
    let (mut client, bridge) = bridged(&listening.url(), "wrong");
    let talk = async {
        let refused = client.ask(&greeting("2025-06-18")).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("token"), "{refused}");
        client.finish().await;
    };
    let ((), ended) = tokio::join!(talk, bridge);
    ended.unwrap();
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (mut client, bridge) = bridged(&format!("http://{nobody}/mcp"), TOKEN);
    let talk = async {
        let refused = client.ask(&greeting("2025-06-18")).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("cannot be reached"), "{refused}");
        client.finish().await;
    };
    let ((), ended) = tokio::join!(talk, bridge);
    ended.unwrap();
}

#[tokio::test]
async fn the_token_is_sent_to_no_other_machine() {
    let runtime = Arc::new(TokioRuntime::current());
    for url in [
        "https://127.0.0.1/mcp",
        "http://evil.example/mcp",
        "http://127.0.0.1@evil.example/mcp",
        "http://127.0.0.1:80@evil.example/",
        "http://user@127.0.0.1/",
        "127.0.0.1:80",
        "",
    ] {
        assert!(Bridge::new(url, Secret::new(TOKEN), runtime.clone(), Limits::default()).is_err(), "{url}");
    }
    for url in ["http://127.0.0.1:4000/mcp", "http://localhost/mcp", "http://[::1]:1/"] {
        assert!(Bridge::new(url, Secret::new(TOKEN), runtime.clone(), Limits::default()).is_ok(), "{url}");
    }
}
