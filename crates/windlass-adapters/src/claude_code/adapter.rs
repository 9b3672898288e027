//! Claude Code over `stream-json`: user messages and control messages in, events and control messages out, a line each.
//! Tried with 2.1.325. It asks about every call that is not a read, its sub-agents' too, because an `ask` rule in the settings of
//! the command line outranks whatever allows; settings of the workspace are not read at all, since those can start commands
//! and forward the key. What `CLAUDE.md` says there is only text, and is handed in through the home.

use super::{launch, talk};
use crate::{Adapter, Agent, CannotLaunch, Conversation, Dialect, Kept, LaunchSpec, Launching, Naming, Permissions};

pub static AGENT: Agent = Agent {
    id: "claude-code",
    display_name: "Claude Code",
    program: "claude",
    tried: &["2.1.325"],
    dialects: &[Dialect::Messages],
    permissions: Permissions::Asked,
    takes_mcp: true,
    can_be_steered: true,
    can_resume: true,
    can_fork: true,
};

#[derive(Debug)]
pub struct ClaudeCode;

impl Adapter for ClaudeCode {
    fn agent(&self) -> &'static Agent {
        &AGENT
    }

    fn launch(&self, launching: &Launching<'_>) -> Result<LaunchSpec, CannotLaunch> {
        launch::spec(launching)
    }

    /// Long results lie beside the conversation, which names them. Its notes to itself (`memory`) are read into each prompt, and go.
    fn kept(&self) -> Kept {
        Kept::Files(&[".claude/projects/*.jsonl", ".claude/projects/*.txt"])
    }

    fn converse(&self, launching: &Launching<'_>) -> Box<dyn Conversation> {
        Box::new(talk::Talk::new(launching))
    }

    fn naming(&self, _launching: &Launching<'_>) -> Naming {
        Naming::Given
    }
}
