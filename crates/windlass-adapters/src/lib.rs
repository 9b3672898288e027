//! Foreign agents under Windlass's journal, gates and verification. An `Adapter` is pure translation: what to start, what its
//! program says in our words, and our words in its form. It holds no process, socket or clock, so that a recorded stream is all
//! that a test needs; whoever carries an execution (`ForeignRunner`) owns those.

mod acp;
mod copilot;
mod jsonrpc;
mod opencode;
mod port;

pub use acp::Acp;
pub use copilot::Copilot;
pub use opencode::OpenCode;
pub use port::{
    Adapter, Agent, Answer, CannotLaunch, Conversation, Dialect, Event, Framing, LaunchSpec, Launching, Mode,
    PermissionAsked, Permissions, PlacedFile, Proposal, Proposed, Session, Tell, Undeliverable,
};
