//! An MCP server that is a program. It runs in the sandbox of the task, beside its commands and under the same policy: what
//! an agent cannot reach, a server that it talks to cannot reach for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_domain::BoxFuture;
use windlass_mcp::{Connector, Pipe, Stdio, Transport};
use windlass_sandbox::{Command, Error, Running, Sandbox};

pub struct ServerProgram {
    pub sandbox: Arc<dyn Sandbox>,
    pub argv: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub longest_message: usize,
}

struct Talking(Box<dyn Running>);

impl Connector for ServerProgram {
    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn Transport>, String>> {
        let mut command = Command::new(&self.argv);
        command.env = self.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        command.timeout = Command::NO_TIMEOUT;
        Box::pin(async move {
            let running = self.sandbox.start(command).await.map_err(told)?;
            let stdio = Stdio::new(Box::new(Talking(running)), self.longest_message);
            Ok(Box::new(stdio) as Box<dyn Transport>)
        })
    }
}

impl Pipe for Talking {
    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move { self.0.write(bytes).await.map_err(told) })
    }

    fn read(&self) -> BoxFuture<'_, Result<Vec<u8>, String>> {
        Box::pin(async move { self.0.read().await.map_err(told) })
    }

    fn complaints(&self) -> String {
        String::from_utf8_lossy(&self.0.complaints()).into_owned()
    }
}

fn told(error: Error) -> String {
    format!("failed to {error}")
}
