//! The server over a pair of byte streams.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use windlass_mcp::serve::{Limits, serve_lines};

use crate::serve::desk::{Desk, alone, call, greeting, one, request};

pub struct Client {
    reader: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: Option<WriteHalf<DuplexStream>>,
}

impl Client {
    pub fn new(stream: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader: BufReader::new(reader).lines(), writer: Some(writer) }
    }

    pub async fn write(&mut self, text: &str) {
        self.writer.as_mut().unwrap().write_all(text.as_bytes()).await.unwrap();
    }

    pub async fn say(&mut self, message: &Value) {
        self.write(&format!("{message}\n")).await;
    }

    pub async fn hear(&mut self) -> Option<Value> {
        self.reader.next_line().await.unwrap().map(|line| serde_json::from_str(&line).unwrap())
    }

    pub async fn ask(&mut self, message: &Value) -> Value {
        self.say(message).await;
        self.hear().await.unwrap()
    }

    /// Says that nothing more comes.
    pub async fn finish(&mut self) {
        self.writer.as_mut().unwrap().shutdown().await.unwrap();
    }
}

/// A client, and the server's future to drive beside it.
fn served(desk: &Desk, limits: Limits) -> (Client, impl Future<Output = std::io::Result<()>> + use<>) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = desk.server(limits);
    let (reader, writer) = tokio::io::split(theirs);
    (Client::new(ours), async move { serve_lines(&server, reader, writer).await })
}

#[tokio::test]
async fn messages_are_lines() {
    let desk = Desk::default();
    let (mut client, server) = served(&desk, Limits::default());
    let talk = async {
        assert_eq!(client.ask(&request(1, "tools/list", json!({}))).await["error"]["code"], -32600);
        assert_eq!(client.ask(&request(2, "ping", json!({}))).await["result"], json!({}));
        client.write("\n  \n{oops\n").await;
        assert_eq!(client.hear().await.unwrap()["error"]["code"], -32700);
        assert_eq!(client.ask(&greeting("2024-11-05")).await["result"]["protocolVersion"], "2024-11-05");
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client.say(&json!({"jsonrpc": "2.0", "id": 9, "result": {}})).await;
        assert_eq!(client.ask(&call(3, "fail", json!({}))).await["result"]["isError"], true);
        assert_eq!(client.ask(&call(4, "nothing", json!({}))).await["error"]["code"], -32602);
        let modern = client.ask(&alone(request(5, "server/discover", json!({})))).await;
        assert_eq!(modern["result"]["resultType"], "complete");
        client.finish().await;
        assert_eq!(client.hear().await, None);
    };
    let ((), ended) = tokio::join!(talk, server);
    ended.unwrap();
}

#[tokio::test]
async fn calls_run_side_by_side_and_can_be_taken_back() {
    let desk = Desk::default();
    let (mut client, server) = served(&desk, Limits::default());
    let talk = async {
        client.ask(&greeting("2025-06-18")).await;
        client.say(&call(1, "hold", json!({}))).await;
        client.say(&call(2, "hold", json!({}))).await;
        one(&desk.begun).await;
        one(&desk.begun).await;
        assert_eq!(client.ask(&call(3, "echo", json!({"text": "hi"}))).await["id"], 3);
        assert_eq!(client.ask(&call(2, "echo", json!({"text": "hi"}))).await["error"]["code"], -32600);
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
        one(&desk.given_up).await;
        desk.let_go.add_permits(1);
        // The one that was taken back says nothing.
        assert_eq!(client.hear().await.unwrap()["id"], 2);
        client.finish().await;
        assert_eq!(client.hear().await, None);
    };
    let ((), ended) = tokio::join!(talk, server);
    ended.unwrap();
}

#[tokio::test]
async fn what_was_asked_before_the_end_is_answered_if_it_ends_in_time() {
    let desk = Desk::default();
    let (mut client, server) = served(&desk, Limits::default());
    let talk = async {
        client.ask(&greeting("2025-06-18")).await;
        client.say(&call(1, "hold", json!({}))).await;
        client.finish().await;
        one(&desk.begun).await;
        desk.let_go.add_permits(1);
        assert_eq!(client.hear().await.unwrap()["id"], 1);
    };
    let ((), ended) = tokio::join!(talk, server);
    ended.unwrap();
    let (mut client, server) =
        served(&desk, Limits { farewell: std::time::Duration::from_millis(1), ..Limits::default() });
    let talk = async {
        client.ask(&greeting("2025-06-18")).await;
        client.say(&call(1, "hold", json!({}))).await;
        client.finish().await;
    };
    let ((), ended) = tokio::join!(talk, server);
    ended.unwrap();
    one(&desk.given_up).await;
}

#[tokio::test]
async fn a_line_too_long_ends_it() {
    let (mut client, server) = served(&Desk::default(), Limits { message_bytes: 1_000, ..Limits::default() });
    let talk = async {
        client.write(&"x".repeat(1_001)).await;
        assert_eq!(client.hear().await.unwrap()["error"]["code"], -32600);
        assert_eq!(client.hear().await, None);
    };
    let ((), ended) = tokio::join!(talk, server);
    assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::InvalidData);
}

#[tokio::test]
async fn sixty_four_calls_at_once_are_each_answered_once() {
    let desk = Desk::default();
    let (mut client, server) = served(&desk, Limits::default());
    let talk = async {
        client.ask(&greeting("2025-06-18")).await;
        for id in 1..=64 {
            client.say(&call(id, "hold", json!({}))).await;
        }
        for _ in 1..=64 {
            one(&desk.begun).await;
        }
        desk.let_go.add_permits(64);
        let mut answered = BTreeMap::new();
        for _ in 1..=64 {
            let id = client.hear().await.unwrap()["id"].as_u64().unwrap();
            *answered.entry(id).or_insert(0) += 1;
        }
        assert!((1..=64).all(|id| answered[&id] == 1));
        client.finish().await;
    };
    let ((), ended) = tokio::join!(talk, server);
    ended.unwrap();
}
