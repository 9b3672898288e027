//! Codex over its app-server: requests, answers and notifications, a line of JSON each, without the word `jsonrpc`.
//! Tried with 0.166.0. A thread of the policy `untrusted` asks about every command, reads included, and about every change of files,
//! also where Codex's own sandbox is off; that one is off because ours is around it. The workspace is said to be untrusted before
//! the start: the app-server would otherwise trust it by itself, and with that start what its `.codex/config.toml` names.

use super::{launch, talk};
use crate::{
    Adapter, Agent, CannotLaunch, Conversation, Dialect, Kept, LaunchSpec, Launching, Mode, Naming, Permissions,
};

pub static AGENT: Agent = Agent {
    id: "codex",
    display_name: "Codex",
    program: "codex",
    tried: &["0.166.0"],
    dialects: &[Dialect::Responses],
    permissions: Permissions::Asked,
    takes_mcp: true,
    can_be_steered: true,
    can_resume: true,
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

    /// Its databases are made anew from these.
    fn kept(&self) -> Kept {
        Kept::Files(&[".codex/sessions/*.jsonl"])
    }

    /// On its screen a person may have it trust the workspace, and with that servers that its settings name are started, and rules of its own
    /// allow what nobody is asked about.
    fn refused(&self, mode: Mode) -> &'static [&'static str] {
        match mode {
            Mode::Structured => &[],
            Mode::Terminal => &[".codex"],
        }
    }

    /// The folder is not trusted: to open it all the same gives leave for nothing. The other answer is to quit, which a person may have chosen.
    fn opens_with(&self) -> Option<&'static str> {
        Some("› 1. Open restricted")
    }

    fn converse(&self, launching: &Launching<'_>) -> Box<dyn Conversation> {
        Box::new(talk::Talk::new(launching))
    }

    fn naming(&self, launching: &Launching<'_>) -> Naming {
        Naming::Kept(launch::look(launching))
    }
}
