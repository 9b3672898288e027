//! The official client for Python against our server: over HTTP, and over the bridge as a program on standard streams. `make test-mcp`
//! installs it and says where.

#![expect(clippy::disallowed_methods, reason = "the environment says where the client is, and it is a process")]

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::process::Command;
use windlass_domain::Runtime;
use windlass_mcp::serve::Limits;
use windlass_runtime::TokioRuntime;

use crate::serve::bridge::bridge;
use crate::serve::desk::{Desk, TOKEN};
use crate::serve::listener::Listening;

async fn goes_well(arguments: &[&str]) {
    let python = std::env::var("WINDLASS_MCP_PYTHON").expect("`make test-mcp` sets it");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/serve/client.py");
    let ran = Command::new(python).arg(script).args(arguments).output().await.unwrap();
    let (said, complained) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && said.trim_end().ends_with("well"), "{said}\n{complained}");
}

/// Every connection is a bridge of its own, as every program would have one.
async fn bridges(url: String, token: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let runtime = Arc::new(TokioRuntime::current());
    let connections = runtime.clone();
    runtime.spawn(Box::pin(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let bridge = bridge(&url, token);
            connections.spawn(Box::pin(async move {
                let (reader, writer) = stream.into_split();
                bridge.forward(reader, writer).await.expect("the relay keeps to lines");
            }));
        }
    }));
    address
}

async fn over_http(mode: &str) {
    let listening = Listening::start(Desk::default().endpoint(Limits::default())).await;
    goes_well(&["http", &listening.url(), TOKEN, mode]).await;
}

async fn over_the_bridge(mode: &str) {
    let listening = Listening::start(Desk::default().endpoint(Limits::default())).await;
    let (right, wrong) = (bridges(listening.url(), TOKEN).await, bridges(listening.url(), "wrong").await);
    goes_well(&["stdio", &right.port().to_string(), &wrong.port().to_string(), mode]).await;
}

#[tokio::test]
async fn over_http_with_a_greeting() {
    over_http("legacy").await;
}

#[tokio::test]
async fn over_http_in_the_newest_revision() {
    over_http("auto").await;
}

#[tokio::test]
async fn over_the_bridge_with_a_greeting() {
    over_the_bridge("legacy").await;
}

#[tokio::test]
async fn over_the_bridge_in_the_newest_revision() {
    over_the_bridge("auto").await;
}
