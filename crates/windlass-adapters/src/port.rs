//! The port of the adapters. `Adapter` knows a program, `Conversation` is one talk with it over its structured channel: a state machine that
//! is fed frames and says what they mean and what is to be written. Both are pure and total: whatever a program prints, the
//! worst that comes of it is a diagnostic.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass_domain::execution::Observation;
use windlass_llm::Dialect;

pub trait Adapter: Send + Sync {
    fn agent(&self) -> &'static Agent;

    /// What to start, and what must lie in its home first.
    fn launch(&self, launching: &Launching<'_>) -> Result<LaunchSpec, CannotLaunch>;

    /// The talk over the structured channel that `launch` was asked for.
    fn converse(&self, launching: &Launching<'_>) -> Box<dyn Conversation>;

    /// Whether a new conversation has the name that `Session::New` gives it, so that it is known without the program saying it.
    fn takes_a_session_name(&self) -> bool {
        false
    }

    /// What is taken out of the home before each launch: whatever would loosen what the program asks about, since the agent itself
    /// could have put it there.
    fn swept(&self) -> &'static [&'static str] {
        &[]
    }

    /// What a workspace must not hold, because the program would run it unasked.
    fn refused(&self) -> &'static [&'static str] {
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
    /// It asks nobody: what is approved or denied is the launch.
    LaunchOnly,
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
    pub dialect: Dialect,
    /// `http://127.0.0.1:PORT`, without a path: where the model is, and nothing else is reachable.
    pub endpoint: &'a str,
    /// What the endpoint wants to see. It dies with the execution, and is no credential of the model's.
    pub key: &'a str,
    /// Where our MCP server is, where the agent is to have it; with the same key as its bearer.
    pub mcp: Option<&'a str>,
    pub session: Session<'a>,
    /// What the agent is told besides its task, for as long as it runs.
    pub instructions: &'a str,
    /// The first message. In a terminal it is typed in or given on the command line, whichever the program does reliably.
    pub prompt: &'a str,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSpec {
    pub argv: Vec<String>,
    /// Everything that the program finds besides `PATH` and `HOME`.
    pub env: BTreeMap<String, String>,
    pub files: Vec<PlacedFile>,
    pub framing: Framing,
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
    /// The program takes back a question.
    Withdrawn { request: String },
    /// Words as they come, for who watches.
    Streamed { text: String },
    /// A frame that this adapter cannot read. Enough of them, or one at the very beginning, and the channel is not believed.
    Unreadable { why: String },
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

/// What an agent is told (contracts §6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tell {
    /// The next message of the conversation: it starts a turn, or joins the one that runs where the program can.
    Say { text: String },
    /// Stop what you do. The program stays for the next message.
    Interrupt,
    /// Another model from now on.
    Model { model: String },
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
