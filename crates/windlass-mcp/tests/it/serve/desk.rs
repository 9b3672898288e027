//! Something to serve: a tool that gives back what it is told, one that fails, and one that goes on until it is let go, of which one
//! sees when it begins and when nobody waits for it any more.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use windlass_domain::{BoxFuture, Secret};
use windlass_mcp::serve::{About, CallResult, Effect, Endpoint, Kind, Limits, Parameter, Served, Server, Tool};
use windlass_runtime::TokioRuntime;

pub const TOKEN: &str = "a-token-of-this-execution";

const ECHO: Tool = Tool {
    name: "echo",
    description: "Gives back the text.",
    parameters: &[Parameter::required("text", "Any.", Kind::Text { most: 1_000 })],
    effect: Effect::Reads,
};
const FAIL: Tool = Tool { name: "fail", description: "Fails.", parameters: &[], effect: Effect::Reads };
const HOLD: Tool =
    Tool { name: "hold", description: "Goes on until it is let go.", parameters: &[], effect: Effect::Reads };
/// Three that are about `hold`, for clients that share nothing else with this test.
const BEGUN: Tool = Tool { name: "begun", description: "Waits for one.", parameters: &[], effect: Effect::Reads };
const LET_GO: Tool = Tool { name: "let_go", description: "Lets one go.", parameters: &[], effect: Effect::Adds };
const GIVEN_UP: Tool =
    Tool { name: "given_up", description: "Waits until one was.", parameters: &[], effect: Effect::Reads };
const BREAK: Tool = Tool { name: "break", description: "Panics.", parameters: &[], effect: Effect::Reads };

#[derive(Clone)]
pub struct Desk {
    pub begun: Arc<Semaphore>,
    pub let_go: Arc<Semaphore>,
    pub given_up: Arc<Semaphore>,
}

impl Default for Desk {
    fn default() -> Self {
        let none = || Arc::new(Semaphore::new(0));
        Self { begun: none(), let_go: none(), given_up: none() }
    }
}

/// Waits for one, and takes it.
pub async fn one(of: &Semaphore) {
    of.acquire().await.expect("it is never closed").forget();
}

struct GivenUp(Option<Arc<Semaphore>>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.iter().for_each(|given_up| given_up.add_permits(1));
    }
}

impl Served for Desk {
    fn about(&self) -> About {
        About { name: "desk", instructions: "Try echo." }
    }

    fn tools(&self) -> Vec<Tool> {
        vec![ECHO, FAIL, HOLD, BEGUN, LET_GO, GIVEN_UP, BREAK]
    }

    fn call(&self, tool: &str, arguments: Map<String, Value>) -> BoxFuture<'static, CallResult> {
        let desk = self.clone();
        let tool = tool.to_owned();
        Box::pin(async move {
            match tool.as_str() {
                "echo" => CallResult::object(Map::from_iter([("text".to_owned(), arguments["text"].clone())])),
                "hold" => {
                    let mut guard = GivenUp(Some(Arc::clone(&desk.given_up)));
                    desk.begun.add_permits(1);
                    one(&desk.let_go).await;
                    guard.0 = None;
                    CallResult::said("let go")
                }
                "begun" => {
                    one(&desk.begun).await;
                    CallResult::said("it has")
                }
                "let_go" => {
                    desk.let_go.add_permits(1);
                    CallResult::said("it may")
                }
                "given_up" => {
                    one(&desk.given_up).await;
                    CallResult::said("it was")
                }
                "break" => panic!("on purpose"),
                _ => CallResult::failed("this tool always fails"),
            }
        })
    }
}

impl Desk {
    pub fn server(&self, limits: Limits) -> Server {
        Server::new(Arc::new(self.clone()), Arc::new(TokioRuntime::current()), limits)
    }

    pub fn endpoint(&self, limits: Limits) -> Endpoint {
        Endpoint::new(self.server(limits), Secret::new(TOKEN))
    }
}

/// A call that takes any time at all is answered by a stream.
pub fn hasty() -> Limits {
    Limits { quiet: Duration::from_millis(1), ..Limits::default() }
}

pub fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn call(id: u64, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

pub fn greeting(version: &str) -> Value {
    let client = json!({"name": "test", "version": "1"});
    request(0, "initialize", json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}))
}

/// As revision 2026-07-28 has it.
pub fn alone(mut request: Value) -> Value {
    request["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request
}
