//! The official clients for Python and JavaScript against our server: over HTTP, and over the bridge as a program on standard streams.
//! `make test-mcp` installs them and says where.

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
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/serve/client.py");
    runs_well(Command::new(installed("WINDLASS_MCP_PYTHON")).arg(script).args(arguments)).await;
}

fn installed(name: &str) -> String {
    std::env::var(name).expect("`make test-mcp` sets it")
}

async fn runs_well(command: &mut Command) {
    let ran = command.output().await.unwrap();
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

#[tokio::test]
async fn over_http_with_the_client_for_javascript() {
    let listening = Listening::start(Desk::default().endpoint(Limits::default())).await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/serve/client.mjs");
    let folder = installed("WINDLASS_MCP_EVERYTHING");
    runs_well(Command::new("node").args([script, &folder, &listening.url(), TOKEN])).await;
}
