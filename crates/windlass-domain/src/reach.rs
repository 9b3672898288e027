//! What a call would do, as its tool says before it is done: how it can be recovered, what it can read and where what it is
//! given can go, and the program it would start. It is what gates, risk, taint and approvals look at.

use serde::{Deserialize, Serialize};

use crate::call::Effect;
use crate::digest::Digest;
use crate::monitor::MonitoringSchedule;
use crate::question::UserQuestion;

/// What a call can read from, and whether what it is given can leave the machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Notes and plans: nothing but the context itself.
    Context,
    /// What the tenant remembers of earlier tasks. Whoever looks there says how trustworthy what is found is.
    Memory,
    /// These files of the workspace and whatever is below them; the empty path is all of it.
    Files(Vec<String>),
    /// A program without network: it sees the context's words and the whole workspace.
    Program,
    /// A program with network.
    NetworkProgram,
    /// Web, search, browser, MCP, at this one host where it is one, with the port where it is not 443.
    Outside(Option<String>),
}

impl Reach {
    /// For `#[serde(default = …)]`: what nobody told may go anywhere.
    pub const fn missing() -> Self {
        Self::Outside(None)
    }

    pub const fn can_carry_out(&self) -> bool {
        matches!(self, Self::NetworkProgram | Self::Outside(_))
    }

    /// Whether it may change files that it does not name.
    pub const fn can_change_any_file(&self) -> bool {
        matches!(self, Self::Program | Self::NetworkProgram | Self::Outside(_))
    }
}

/// Worked out without doing anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    pub effect: Effect,
    pub reach: Reach,
    pub program: Option<Program>,
    /// What a person would be asked: their answer is all that the call does.
    pub question: Option<UserQuestion>,
    /// What would be looked at from time to time: to wait for that is all that the call does.
    pub monitor: Option<MonitoringSchedule>,
    /// Names what the tool is, where others than this program say so: a yes to the call is a yes to it as it is now.
    pub definition: Option<Digest>,
}

/// What will be started, word for word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub argv: Vec<String>,
    /// Below the workspace; empty is the workspace itself.
    pub cwd: String,
}

impl Prepared {
    /// A call that starts no program.
    pub const fn new(effect: Effect, reach: Reach) -> Self {
        Self { effect, reach, program: None, question: None, monitor: None, definition: None }
    }
}
