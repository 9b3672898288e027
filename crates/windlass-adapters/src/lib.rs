//! Foreign agents under Windlass's journal, gates and verification. An `Adapter` is pure translation: what to start, what its
//! program says in our words, and our words in its form. It holds no process, socket or clock, so that a recorded stream is all
//! that a test needs; whoever carries an execution (`ForeignRunner`) owns those.

mod acp;
mod claude_code;
mod codex;
mod copilot;
mod frame;
mod jsonrpc;
mod kept;
mod opencode;
mod pi;
mod port;
mod runner;

pub use acp::Acp;
pub use claude_code::ClaudeCode;
pub use codex::Codex;
pub use copilot::Copilot;
pub use kept::Kept;
pub use opencode::OpenCode;
pub use pi::Pi;
pub use port::{
    Adapter, Agent, Answer, CannotLaunch, CommandLine, Conversation, Event, Forgetting, Framing, LaunchSpec, Launching,
    Look, Mode, Naming, PermissionAsked, Permissions, PlacedFile, Proposal, Proposed, Session, Tell, Undeliverable,
};
pub use runner::{
    Briefed, Briefing, Finding, ForeignRunner, Installed, InstalledAs, Marker, Markers, Means, ModelSeen, PROBE_PROMPT,
    Patience, ProbeEnd, Probed, Screens, Versions, ask_version,
};
pub use windlass_llm::Dialect;
