//! The tools of one execution: a call becomes a claim or a read, and its owner answers. Nothing is decided here; a claim that
//! was given no name gets one that no other has.

use std::sync::Arc;

use serde_json::{Map, Value};
use windlass_domain::execution::{Observation, Observed, Source};
use windlass_domain::{BoxFuture, Runtime};

use crate::serve::operations::{Holdings, Operation, Read, operation, tools};
use crate::serve::server::{About, CallResult, Served};
use crate::serve::tool::Tool;

const ABOUT: About = About {
    name: "windlass",
    instructions: "Tools for talking to whoever gave you this task. Say how far you are with progress, ask with needs_input, and say \
                   with completed_claim that you are done. What you claim is checked.",
};

/// Whoever an execution belongs to.
pub trait Owner: Send + Sync {
    /// Something was told, and goes the way of all observations. The answer says what was made of it.
    fn told(&self, observed: Observed) -> BoxFuture<'static, CallResult>;

    /// Answers from what the execution may see, and keeps in its journal that it was asked.
    fn read(&self, read: Read) -> BoxFuture<'static, CallResult>;
}

pub struct BackChannel {
    owner: Arc<dyn Owner>,
    tools: Vec<Tool>,
    runtime: Arc<dyn Runtime>,
}

impl BackChannel {
    pub fn new(owner: Arc<dyn Owner>, has: Holdings, runtime: Arc<dyn Runtime>) -> Self {
        Self { owner, tools: tools(has), runtime }
    }
}

impl Served for BackChannel {
    fn about(&self) -> About {
        ABOUT
    }

    fn tools(&self) -> Vec<Tool> {
        self.tools.clone()
    }

    fn call(&self, tool: &str, arguments: Map<String, Value>) -> BoxFuture<'static, CallResult> {
        match operation(tool, arguments) {
            Some(Operation::Claim { event, claim }) => {
                let event_id = event.unwrap_or_else(|| format!("mcp-{:032x}", self.runtime.random()));
                self.owner.told(Observed { event_id, source: Source::Mcp, observation: Observation::Claimed(claim) })
            }
            Some(Operation::Read(read)) => self.owner.read(read),
            None => Box::pin(std::future::ready(CallResult::failed(format!("there is no tool `{tool}`")))),
        }
    }
}
