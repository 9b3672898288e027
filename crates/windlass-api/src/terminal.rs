//! Terminals: what is listed of them, and what is said over a WebSocket between one of them and whoever looks on. What is to be
//! painted, and what is typed, goes as it is, in binary messages; everything else is said in text messages of these shapes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a viewer and a server agree on when they begin; the ticket is said beside it.
pub const TERMINAL_PROTOCOL: &str = "windlass.terminal.v1";
/// What stands before a ticket among the protocols that a browser offers.
pub const TICKET_PREFIX: &str = "ticket.";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Terminal {
    pub execution_id: String,
    /// What runs there; none where it is closed.
    pub name: Option<String>,
    pub size: Option<TerminalSize>,
    /// Whether it can be looked at as it is now.
    pub alive: bool,
    /// Where its recording is, if it has one.
    pub recording: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TerminalList {
    pub terminals: Vec<Terminal>,
    pub next: Option<String>,
}

/// What a terminal showed, kept after it was closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TerminalRecording {
    pub execution_id: String,
    pub agent_id: Option<String>,
    pub began_at: Option<String>,
    pub last_at: String,
    /// Where it is.
    pub recording: String,
}

/// A page, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecordingList {
    pub recordings: Vec<TerminalRecording>,
    pub next: Option<String>,
}

/// A terminal, and what stands on its screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TerminalScreen {
    #[serde(flatten)]
    pub terminal: Terminal,
    /// Line by line, without the blanks at their ends; none where it is closed.
    pub screen: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminalSize {
    pub cols: u16,
    pub rows: u16,
}

/// Good for one attachment to this terminal, for a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TerminalTicket {
    /// To be offered as a protocol, beside `windlass.terminal.v1`, when the WebSocket is opened.
    pub protocol: String,
    pub expires_in_seconds: u64,
}

/// What a viewer is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TerminalTold {
    /// First of all.
    Hello { execution_id: String, name: String, may_type: bool },
    /// What is painted from here on is for a terminal of this size.
    Size(TerminalSize),
    /// What was painted so far is what was there; what comes now happens now.
    CaughtUp,
    /// What was said was not done.
    Refused { detail: String },
    /// The program has ended, in words; nothing comes after it.
    Ended { how: String },
}

/// What a viewer says, besides what is typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TerminalSaid {
    /// The room that they have for it. It is as large as the smallest room of those who have said one.
    Resize(TerminalSize),
}
