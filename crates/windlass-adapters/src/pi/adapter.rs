//! Pi over its rpc mode: commands in, answers and events out, a line of JSON each. Tried with 0.87.1.
//! It asks nobody by itself and takes no MCP server. An extension of ours in its home asks before each call that is not a read: Pi
//! does not start when it cannot load it, blocks a call when it fails, and loads no other, neither the workspace's nor the
//! home's. What the agent has to tell travels by markers.

use super::{launch, talk};
use crate::{Adapter, Agent, CannotLaunch, Conversation, Dialect, Kept, LaunchSpec, Launching, Naming, Permissions};

pub static AGENT: Agent = Agent {
    id: "pi",
    display_name: "Pi",
    program: "pi",
    tried: &["0.87.1"],
    dialects: &[Dialect::Chat, Dialect::Responses, Dialect::Messages],
    permissions: Permissions::Hooked,
    takes_mcp: false,
    can_be_steered: true,
    can_resume: true,
    can_fork: true,
};

#[derive(Debug)]
pub struct Pi;

impl Adapter for Pi {
    fn agent(&self) -> &'static Agent {
        &AGENT
    }

    fn launch(&self, launching: &Launching<'_>) -> Result<LaunchSpec, CannotLaunch> {
        launch::spec(launching)
    }

    fn kept(&self) -> Kept {
        Kept::Files(&[".pi/agent/sessions/*.jsonl"])
    }

    fn converse(&self, launching: &Launching<'_>) -> Box<dyn Conversation> {
        Box::new(talk::Talk::new(launching))
    }

    fn naming(&self, _launching: &Launching<'_>) -> Naming {
        Naming::Given
    }
}
