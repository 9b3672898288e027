//! The port of the adapters. `Adapter` knows a program, `Conversation` is one talk with it over its structured channel: a state machine that
//! is fed frames and says what they mean and what is to be written. Both are pure and total: whatever a program prints, the
//! worst that comes of it is a diagnostic.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass_domain::execution::{Observation, TurnEnd};
use windlass_llm::Dialect;

use crate::kept::Kept;

pub trait Adapter: Send + Sync {
    fn agent(&self) -> &'static Agent;

    /// What to start, and what must lie in its home first.
    fn launch(&self, launching: &Launching<'_>) -> Result<LaunchSpec, CannotLaunch>;

    /// The talk over the structured channel that `launch` was asked for.
    fn converse(&self, launching: &Launching<'_>) -> Box<dyn Conversation>;

    /// How a conversation that was begun on the program's own screen is known again, since nobody says its name there.
    fn naming(&self, _launching: &Launching<'_>) -> Naming {
        Naming::Unknown
    }

    /// What stands on its screen once the first message can be typed in, where the program does not take one from its command line.
    fn awaits_prompt(&self, _launching: &Launching<'_>) -> Option<&'static str> {
        None
    }

    /// What its screen may open with, before anything else: a question to which Enter says what allows least.
    fn opens_with(&self) -> Option<&'static str> {
        None
    }

    /// The keys, one after the other, with which a person at its screen breaks off its turn, and says no to what it asks.
    fn interrupt_keys(&self) -> &'static [&'static str] {
        &["\u{1b}"]
    }

    /// Whether it can be started on a screen of its own.
    fn has_screen(&self) -> bool {
        true
    }

    /// Whether it may turn out to take an MCP server only as a program.
    fn may_need_bridge(&self) -> bool {
        false
    }

    /// What of the home is the conversation's. Before each launch all else goes: the agent itself could have put it there, for the
    /// program to obey.
    fn kept(&self) -> Kept;

    /// What a workspace must not hold, because the program, spoken to in this way, would run it unasked or ask less because of it.
    fn refused(&self, _mode: Mode) -> &'static [&'static str] {
        &[]
    }

    /// The version in what the program prints for `--version`.
    fn version<'a>(&self, printed: &'a str) -> Option<&'a str> {
        printed.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))
    }
}

/// What is known of a program without starting it.
#[derive(Debug, PartialEq, Eq)]
pub struct Agent {
    pub id: &'static str,
    pub display_name: &'static str,
    /// What is looked for on the machine.
    pub program: &'static str,
    /// The versions that this adapter was tried with. Of another one the structured channel is believed only where it begins as expected.
    pub tried: &'static [&'static str],
    /// How its model may be spoken to, the best first.
    pub dialects: &'static [Dialect],
    pub permissions: Permissions,
    /// Whether it takes tools from an MCP server of ours.
    pub takes_mcp: bool,
    /// Whether a message reaches it while it works.
    pub can_be_steered: bool,
    /// Whether it surely goes on with a conversation of its own. Others say so when they are greeted, and begin anew where they cannot.
    pub can_resume: bool,
    /// Whether it can begin a new conversation from an old one.
    pub can_fork: bool,
}

/// How a program comes to ask before it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permissions {
    /// Its channel asks.
    Asked,
    /// It asks nobody by itself; a hook of ours in its home does.
    Hooked,
}

impl Permissions {
    /// Whether a call of this tool of ours is never made without a question. A program that makes one all the same has been talked out of
    /// asking, or is not what it says it is.
    pub fn cover(self, tool: &str) -> bool {
        match self {
            Self::Asked | Self::Hooked => matches!(tool, "write" | "edit" | "bash"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The program's own structured channel, over its standard streams.
    Structured,
    /// The program's own screen.
    Terminal,
}

/// What an agent is started with. Paths are those of the sandbox that it runs in.
#[derive(Debug, Clone, Copy)]
pub struct Launching<'a> {
    pub mode: Mode,
    pub program: &'a Path,
    /// Its home: empty at first, kept for as long as the execution, its own.
    pub home: &'a Path,
    pub workspace: &'a Path,
    pub model: &'a str,
    /// How many tokens the model reads at once, and says at most: who compacts goes by them.
    pub window: u64,
    pub longest_answer: u64,
    pub dialect: Dialect,
    /// `http://127.0.0.1:PORT`, without a path: where the model is, and nothing else is reachable.
    pub endpoint: &'a str,
    /// What the endpoint wants to see. It dies with the execution, and is no credential of the model's.
    pub key: &'a str,
    /// Where our MCP server is, where the agent is to have it; with the same key as its bearer.
    pub mcp: Option<&'a str>,
    /// Where Windlass itself is, whose `mcp bridge` is that server as a program, for who takes no address.
    pub bridge: Option<&'a Path>,
    pub session: Session<'a>,
    /// What the agent is told besides its task, for as long as it runs.
    pub instructions: &'a str,
    /// The first message. In a terminal it is typed in or given on the command line, whichever the program does reliably.
    pub prompt: &'a str,
    /// What is said instead where an old conversation cannot be gone on with, which is known only once the program is asked: the task, and what was
    /// said since.
    pub anew: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Session<'a> {
    /// A new conversation; an id for it, a UUID, where the program takes one.
    New(&'a str),
    /// Go on with the conversation of this id, which is in the home.
    Resume(&'a str),
    /// A new conversation that begins as the one of this id ended.
    Fork(&'a str),
}

/// How the name of a conversation is known.
#[derive(Debug, Clone)]
pub enum Naming {
    /// It has the one that `Session::New` gave it.
    Given,
    /// It is in the home, for who looks there.
    Kept(Look),
    Unknown,
}

/// What is run to find the name of the newest conversation in a home.
#[derive(Debug, Clone)]
pub struct Look {
    pub argv: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// The name in what was printed; nothing where there is none. An agent may write to its home: what is read is a name or nothing.
    pub read: fn(&str) -> Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSpec {
    pub argv: Vec<String>,
    /// Everything that the program finds besides `PATH` and `HOME`.
    pub env: BTreeMap<String, String>,
    pub files: Vec<PlacedFile>,
    /// What is run in the home before, one after the other, so that an old conversation brings nothing along that answers for a person.
    pub before: Vec<Forgetting>,
    pub framing: Framing,
}

/// What takes something out of a conversation that is in the home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgetting {
    pub argv: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// What is printed by one that has done it. Anything else, and the conversation is not gone on with.
    pub prints: &'static str,
}

/// A file that lies in the home before the program is started; below it, never above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedFile {
    pub path: PathBuf,
    pub content: String,
}

/// How the channel is cut into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One JSON value a line.
    Lines,
    /// A `Content-Length` head before each, as language servers do.
    ContentLength,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotLaunch {
    #[error("{agent} cannot fork a conversation")]
    CannotFork { agent: &'static str },
    #[error("{agent} cannot be given an MCP server")]
    NoMcp { agent: &'static str },
    #[error("{agent} cannot speak to its model in this way")]
    NoSuchDialect { agent: &'static str },
}

/// One talk. Frames go in and come out without their framing.
pub trait Conversation: Send + Sync {
    /// What is written as soon as the program runs. The first message goes out with it, or once the program is ready for it.
    fn begin(&mut self) -> Vec<Vec<u8>>;

    /// What a frame of the program's means.
    fn read(&mut self, frame: &[u8]) -> Vec<Event>;

    /// A message to the agent.
    fn tell(&mut self, message: &Tell) -> Result<Vec<Vec<u8>>, Undeliverable>;

    /// The answer to a `PermissionAsked`. Nothing for one that nobody asked, or that was answered before.
    fn answer(&mut self, request: &str, answer: &Answer) -> Vec<Vec<u8>>;
}

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The protocol wants this written now.
    Write(Vec<u8>),
    /// To be journaled. The id is the program's own where it has one that lasts, and a function of what was said otherwise,
    /// so that a conversation that is replayed says nothing twice.
    Observed { event_id: String, observation: Observation },
    /// The agent may not go on before this is answered.
    Asked(PermissionAsked),
    /// What a call was to do was done, though it ends as an error: a command that failed, as opposed to one that the program refused to itself.
    Ran { call: String },
    /// The program takes back a question.
    Withdrawn { request: String },
    /// The agent has stopped, and something that it began runs on; once that has ended the agent may go on. Where nobody waits any longer,
    /// this is how its turn has ended.
    Lingers { event_id: String, end: TurnEnd },
    /// Words as they come, for who watches.
    Streamed { text: String },
    /// It is well formed, and of a kind that this adapter knows nothing of: it is passed over.
    Unknown { kind: String },
    /// A frame that this adapter cannot read. Enough of them, or one at the very beginning, and the channel is not believed.
    Unreadable { why: String },
    /// It speaks another version of its protocol than this adapter does. Nothing of its channel is believed, whatever it said before.
    Foreign { why: String },
    /// It begins more at once than there is reason for, so that to remember it would be to remember anything.
    Flood { what: &'static str },
    /// It is understood, and with such a program nothing is begun, in whatever way: it does not ask before it acts, or is without what it
    /// was given.
    Unacceptable { why: String },
}

#[derive(Debug, Clone, PartialEq)]
pub struct PermissionAsked {
    /// The program's name for the question.
    pub request: String,
    /// The program's name for the call, as in `Observation::Called`.
    pub call: String,
    pub proposed: Proposed,
}

/// A call that the agent wants to make, in our words.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposed {
    /// What we call such a tool: `bash`, `write`, `edit`, `read`, `web_fetch`, or the program's own name for one we have not.
    pub tool: String,
    /// As the program gave them: what runs is what was shown.
    pub arguments: Value,
    pub proposal: Proposal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proposal {
    Command {
        line: CommandLine,
        cwd: Option<PathBuf>,
    },
    /// Changes of these files.
    Change {
        paths: Vec<PathBuf>,
    },
    /// Reads these.
    Read {
        paths: Vec<PathBuf>,
    },
    /// Fetches something from outside.
    Fetch {
        url: String,
    },
    /// Anything else.
    Other,
}

/// What will be run, as it will be read: who takes one for the other judges something else than what runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// By a shell.
    Shell(String),
    /// As it stands, by nobody but the program it names.
    Words(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This once.
    Allow,
    /// The reason is for the agent, which goes on.
    Deny { reason: String },
    /// As `Deny`, and the turn ends: a person is asked first.
    Hold { reason: String },
}

/// What an agent is told (contracts §6). Another model is none of it: the way to its model is ours, and whoever is behind it is another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tell {
    /// The next message of the conversation: it starts a turn, or joins the one that runs where the program can.
    Say { text: String },
    /// Stop what you do. The program stays for the next message.
    Interrupt,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Undeliverable {
    #[error("the program takes no message while it works")]
    WhileWorking,
    #[error("the program cannot do this")]
    NotAble,
    #[error("the program is not ready yet")]
    NotReady,
}
