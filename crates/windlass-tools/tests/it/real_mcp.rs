//! `server-everything`, which is not ours, as a program in the real sandbox and at an address: `make test-mcp` installs it and
//! says where.

#![expect(
    clippy::disallowed_methods,
    reason = "the environment says where the server is, and one of them is a process"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_domain::{CancelSignal, Runtime};
use windlass_mcp::{Definition, Limits, Pins, Server};
use windlass_runtime::TokioRuntime;
use windlass_sandbox::{Bubblewrap, Policy, Provider, Sandbox, Supervisor};
use windlass_tools::mcp::{Address, ServerProgram};

use crate::sandboxed::supervisor;

const INSIDE: &str = "/opt/everything";

#[test]
fn everything_is_listed_accepted_and_called() {
    let place = std::env::var("WINDLASS_MCP_EVERYTHING").expect("`make test-mcp` sets it");
    let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore).unwrap();
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::new(executor.handle().clone()));
    let folder = TempDir::new().unwrap();
    executor.block_on(async {
        let mut policy = Policy::new(folder.path());
        policy.readonly_mounts = vec![(place.into(), INSIDE.into())];
        let provider = Bubblewrap::new(Supervisor { program: supervisor(), args: Vec::new() });
        let sandbox: Arc<dyn Sandbox> = Arc::from(provider.open(policy).await.unwrap());
        let server = |pinned| {
            let program = format!("{INSIDE}/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
            let program = ServerProgram {
                sandbox: Arc::clone(&sandbox),
                argv: vec!["node".to_owned(), program, "stdio".to_owned()],
                env: BTreeMap::new(),
                longest_message: Limits::default().message_bytes,
            };
            Server::new("all", Box::new(program), pinned, Arc::clone(&runtime), Limits::default())
        };
        used(server).await;
        sandbox.close().await;
    });
}

#[test]
fn everything_is_listed_accepted_and_called_over_http() {
    let place = std::env::var("WINDLASS_MCP_EVERYTHING").expect("`make test-mcp` sets it");
    let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore).unwrap();
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::new(executor.handle().clone()));
    let node = Listening::start(&place);
    executor.block_on(used(|pinned| {
        let address = Address::new(&node.url, Vec::new(), Arc::clone(&runtime), Limits::default()).unwrap();
        Server::new("all", Box::new(address), pinned, Arc::clone(&runtime), Limits::default())
    }));
}

/// Lists, accepts and calls, wherever the server is.
async fn used(server: impl Fn(BTreeMap<String, Definition>) -> Server) {
    let listing = server(BTreeMap::new()).list(&CancelSignal::never()).await.unwrap();
    assert!(listing.tools.contains_key("echo"), "{:?}", listing.tools.keys());
    let mut pins = Pins::default();
    pins.accept("all", &listing);
    let accepted = server(pins.of("all").unwrap().clone());
    let call = async |tool: &str, arguments: Value| accepted.call(tool, &arguments, &CancelSignal::never()).await;
    // Twice: the second finds the definition unchanged.
    for words in ["hello", "again"] {
        let answer = call("echo", json!({"message": words})).await.unwrap();
        assert!(!answer.is_error && answer.text.contains(words), "{answer:?}");
    }
    assert!(call("echo", json!({"message": 7})).await.map_or(true, |answer| answer.is_error));
}

/// The server at an address of this machine, which ends with the test.
struct Listening {
    url: String,
    node: Child,
}

impl Listening {
    fn start(place: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut node = Command::new("node")
            .arg(format!("{place}/node_modules/@modelcontextprotocol/server-everything/dist/index.js"))
            .arg("streamableHttp")
            .env("PORT", port.to_string())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(node.stderr.take().unwrap());
        let mut lines = said.lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("listening")), "it ended before it listened");
        Self { url: format!("http://127.0.0.1:{port}/mcp"), node }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.node.kill();
        let _ = self.node.wait();
    }
}
