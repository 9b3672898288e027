//! One tool of an MCP server. Nobody here knows what it does: it may change anything, it is not done twice, and what it says
//! is external. The agent is shown the definition that the operator accepted, which is the only one that is ever called.

use std::sync::Arc;

use serde_json::Value;
use windlass_domain::{BoxFuture, CallStatus, Digest, Effect, Permit, Prepared, Reach, Stop, ToolSpec, visible};
use windlass_mcp::{Definition, Error, Server, full_name};

use crate::context::Context;
use crate::strangers::strangers_words;
use crate::tool::{Output, Preparing, Running, Tool, arguments};

pub struct McpTool {
    server: Arc<Server>,
    name: String,
    definition: Digest,
    spec: ToolSpec,
    reach: Reach,
}

impl McpTool {
    /// All that the operator accepted of a server. `host` is where the server is, where it is not a program in the sandbox.
    pub fn all(server: &Arc<Server>, host: Option<&str>) -> Vec<Box<dyn Tool>> {
        let tool = |definition: &Definition| {
            let tool = Self {
                server: Arc::clone(server),
                name: definition.name.clone(),
                definition: definition.digest,
                spec: spec(server.name(), definition),
                reach: Reach::Outside(host.map(str::to_owned)),
            };
            Box::new(tool) as Box<dyn Tool>
        };
        server.pinned().values().map(tool).collect()
    }
}

fn spec(server: &str, definition: &Definition) -> ToolSpec {
    ToolSpec {
        name: full_name(server, &definition.name),
        description: format!("[from the MCP server {server}] {}", visible(&definition.description)),
        parameters: shown(&definition.input_schema),
    }
}

/// Every word in it can speak to the model, names and values too. One that hid something is another afterwards, and of no use.
fn shown(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (visible(name).into_owned(), shown(value))).collect())
        }
        Value::Array(items) => items.iter().map(shown).collect(),
        Value::String(text) => Value::String(visible(text).into_owned()),
        Value::Null | Value::Bool(_) | Value::Number(_) => schema.clone(),
    }
}

impl Tool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn preparing(&self) -> Preparing {
        Preparing::AtOnce
    }

    fn prepare(&self, _: &Value, _: &Context) -> Result<Prepared, String> {
        Ok(Prepared { definition: Some(self.definition), ..Prepared::new(Effect::Once, self.reach.clone()) })
    }

    fn run<'a>(&'a self, permit: Permit, _: &'a Context, running: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async move {
            let arguments: Value = match arguments(&permit.redeem().call) {
                Ok(arguments) => arguments,
                Err(reason) => return Output::error(reason),
            };
            match self.server.call(&self.name, &arguments, &running.cancel).await {
                Ok(answer) => {
                    let status = if answer.is_error { CallStatus::Error } else { CallStatus::Ok };
                    Output { status, ..Output::ok(strangers_words(&answer.text)) }
                }
                Err(error) => failed(&error),
            }
        })
    }
}

fn failed(error: &Error) -> Output {
    let (status, advice) = match error {
        Error::Unreachable(_) => (CallStatus::Error, "; it was not called"),
        Error::Refused { .. } => (CallStatus::Error, ""),
        Error::Broken(_) | Error::Protocol(_) => {
            (CallStatus::Interrupted, "; whether the call took effect is not known")
        }
        Error::Late { .. } => (CallStatus::TimedOut, "; whether the call took effect is not known"),
        Error::Stopped(Stop::Cancel) => (CallStatus::Cancelled, ""),
        Error::Stopped(Stop::Pause | Stop::LeaseLost) => (CallStatus::Interrupted, ""),
        Error::Changed { .. } | Error::Gone { .. } => {
            (CallStatus::Denied, "; go on without it, the operator has to look at it (`windlass mcp list`)")
        }
    };
    Output { status, ..Output::error(visible(&format!("{error}{advice}"))) }
}
