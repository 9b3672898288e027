//! Codex over its app-server: requests, answers and notifications, a line of JSON each, without the word `jsonrpc`.
//! Tried with 0.166.0. A thread of the policy `untrusted` asks about every command, reads included, and about every change of files,
//! also where Codex's own sandbox is off; that one is off because ours is around it. The workspace is said to be untrusted before
//! the start: the app-server would otherwise trust it by itself, and with that start what its `.codex/config.toml` names.

use super::{launch, talk};
use crate::{Adapter, Agent, CannotLaunch, Conversation, Dialect, LaunchSpec, Launching, Permissions};

pub static AGENT: Agent = Agent {
    id: "codex",
    display_name: "Codex",
    program: "codex",
    tried: &["0.166.0"],
    dialects: &[Dialect::Responses],
    permissions: Permissions::Asked,
    takes_mcp: true,
    can_be_steered: true,
    can_fork: true,
};

#[derive(Debug)]
pub struct Codex;

impl Adapter for Codex {
    fn agent(&self) -> &'static Agent {
        &AGENT
    }

    fn launch(&self, launching: &Launching<'_>) -> Result<LaunchSpec, CannotLaunch> {
        launch::spec(launching)
    }

    fn swept(&self) -> &'static [&'static str] {
        &[".codex/rules", ".codex/skills", ".codex/prompts", ".codex/hooks.json"]
    }

    fn converse(&self, launching: &Launching<'_>) -> Box<dyn Conversation> {
        Box::new(talk::Talk::new(launching))
    }
}
