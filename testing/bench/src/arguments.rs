//! The command line. Without a part the whole benchmark runs; the parts are what it starts as processes of their own.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use windlass_domain::ExecutionId;

use crate::measure::graph_shapes::Shape;

#[derive(Debug, Parser)]
#[command(
    name = "windlass-bench",
    about = "Measure Windlass on this machine, beside its floor, its peers and its aims"
)]
pub struct Arguments {
    #[command(flatten)]
    pub options: Options,
    #[command(subcommand)]
    pub part: Option<Part>,
}

#[derive(Debug, Args)]
pub struct Options {
    /// Also keep the table in docs/benchmarks.md
    #[arg(long)]
    pub write: bool,
    /// Measure only these
    #[arg(long, value_enum, value_delimiter = ',')]
    pub only: Vec<Subject>,
    /// How often to repeat what is quick to repeat; the median counts
    #[arg(long, default_value_t = 3)]
    pub repeats: usize,
    /// Give what is measured real-time priority (needs root), for a machine that is busy with other things
    #[arg(long)]
    pub real_time: bool,
    /// What the peers' drivers printed, to be compared with
    #[arg(long, value_name = "JSONL")]
    pub peers: Option<PathBuf>,
    /// The program to measure [default: `windlass` beside this one]
    #[arg(long, value_name = "PROGRAM")]
    pub windlass: Option<PathBuf>,
    /// Where to work: the disk of this folder is the one that is measured [default: beside this program]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// A Docker daemon's socket, to measure containers too (it needs execution-agent:latest)
    #[arg(long, value_name = "SOCKET")]
    pub docker: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Subject {
    Steps,
    Agents,
    Long,
    Children,
    Start,
    Sandboxes,
    Commits,
    Queues,
    Law,
    Parked,
    Worktrees,
    Plans,
    Graphs,
    Ways,
    Gateway,
    Foreign,
    Terminals,
    Service,
    Workers,
    Console,
}

#[derive(Debug, Subcommand)]
pub enum Part {
    /// The bare loop
    #[command(hide = true)]
    Floor(Floor),
    /// Many runs in one process
    #[command(hide = true)]
    Agents(Agents),
    /// Sandboxed commands
    #[command(hide = true)]
    Sandboxes(Sandboxes),
    /// Commits to a store
    #[command(hide = true)]
    Commits(Commits),
    /// Messages through a queue
    #[command(hide = true)]
    Queues(Queues),
    /// Risk, gates and approvals
    #[command(hide = true)]
    Law,
    /// Tasks that wait for a person
    #[command(hide = true)]
    Parked(Parked),
    /// Folders for attempts
    #[command(hide = true)]
    Worktrees(Worktrees),
    /// Documents, research, and what follows a yes
    #[command(hide = true)]
    Plans(Plans),
    /// Work graphs
    #[command(hide = true)]
    Graphs(Graphs),
    /// Races, and contexts that are fresh
    #[command(hide = true)]
    Ways(Ways),
    /// Requests of foreign agents
    #[command(hide = true)]
    Gateway,
    /// What foreign agents tell
    #[command(hide = true)]
    Observations(Observations),
    /// A long journal, folded
    #[command(hide = true)]
    Replay(Replay),
    /// Screens
    #[command(hide = true)]
    Terminals(Terminals),
    /// A server, asked by many
    #[command(hide = true)]
    Service(Service),
}

#[derive(Debug, Args)]
pub struct Floor {
    /// HOST:PORT of the model server
    #[arg(long)]
    pub server: String,
    #[arg(long)]
    pub model: String,
    /// The tool's answer, whatever it is asked
    #[arg(long, default_value = "ok")]
    pub result: String,
    #[arg(long, default_value_t = 1)]
    pub agents: usize,
    #[arg(long)]
    pub database: PathBuf,
}

#[derive(Debug, Args)]
pub struct Agents {
    #[arg(long)]
    pub server: String,
    #[arg(long)]
    pub model: String,
    #[arg(long)]
    pub agents: usize,
    #[arg(long)]
    pub workspace: PathBuf,
    #[arg(long)]
    pub data_dir: PathBuf,
    /// Open real sandboxes, supervised by this program; otherwise none is opened at all
    #[arg(long, value_name = "PROGRAM")]
    pub supervisor: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Sandboxes {
    /// The program that supervises inside
    #[arg(long)]
    pub windlass: PathBuf,
    #[arg(long)]
    pub scratch: PathBuf,
    #[arg(long)]
    pub docker: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Commits {
    #[arg(long)]
    pub scratch: PathBuf,
}

#[derive(Debug, Args)]
pub struct Parked {
    #[arg(long)]
    pub scratch: PathBuf,
    #[arg(long, default_value_t = 10_000)]
    pub tasks: usize,
}

#[derive(Debug, Args)]
pub struct Worktrees {
    #[arg(long)]
    pub scratch: PathBuf,
    #[arg(long)]
    pub files: usize,
    #[arg(long, default_value_t = 16)]
    pub worktrees: usize,
}

#[derive(Debug, Args)]
pub struct Plans {
    #[arg(long)]
    pub scratch: PathBuf,
}

#[derive(Debug, Args)]
pub struct Graphs {
    #[arg(long)]
    pub scratch: PathBuf,
    #[arg(long, value_enum)]
    pub shape: Shape,
}

#[derive(Debug, Args)]
pub struct Ways {
    #[arg(long)]
    pub scratch: PathBuf,
}

#[derive(Debug, Args)]
pub struct Queues {
    #[arg(long)]
    pub scratch: PathBuf,
}

#[derive(Debug, Args)]
pub struct Observations {
    #[arg(long)]
    pub scratch: PathBuf,
    /// Where to leave a long journal
    #[arg(long)]
    pub journal: PathBuf,
}

#[derive(Debug, Args)]
pub struct Terminals {
    /// The program that supervises inside
    #[arg(long)]
    pub windlass: PathBuf,
    #[arg(long)]
    pub scratch: PathBuf,
}

#[derive(Debug, Args)]
pub struct Replay {
    #[arg(long)]
    pub data_dir: PathBuf,
    #[arg(long)]
    pub execution: ExecutionId,
}

#[derive(Debug, Args)]
pub struct Service {
    #[arg(long)]
    pub windlass: PathBuf,
    /// HOST:PORT of the model server
    #[arg(long)]
    pub server: String,
    #[arg(long)]
    pub workspace: PathBuf,
    #[arg(long)]
    pub scratch: PathBuf,
    #[arg(long, value_enum)]
    pub asked: Asked,
}

/// What a server is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Asked {
    /// Tasks that are there, idle and at work
    Tasks,
    /// New tasks
    Creating,
    /// What happens
    FanOut,
    /// To tell an agent something
    Injecting,
    /// To leave the work to workers on PostgreSQL
    Workers,
}

impl Asked {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tasks => "tasks",
            Self::Creating => "creating",
            Self::FanOut => "fan-out",
            Self::Injecting => "injecting",
            Self::Workers => "workers",
        }
    }
}
