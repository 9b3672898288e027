//! What can be typed by who only looks.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use super::Output;

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(mut_arg("json", |json| json.help("Print one JSON object a line, one for each task, and no result")))]
pub struct Status {
    /// A task's id, or the end of it
    pub task: Option<String>,
    /// Also the parts of planned tasks: each item's, and each planner's
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct Log {
    /// A task's id, or the end of it, or that of one of its executions [default: the newest task]
    pub task: Option<String>,
    /// Only what is told on this surface; `all` shows which it is
    #[arg(long, value_enum, value_name = "SURFACE")]
    pub surface: Option<SurfaceName>,
    /// Turn by turn: what was asked, what the agent said and did about it, and what that cost
    #[arg(long, conflicts_with_all = ["surface", "follow"])]
    pub timeline: bool,
    /// Go on as things happen, also in other processes, until the task ends or Ctrl-C
    #[arg(long, short)]
    pub follow: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SurfaceName {
    /// What you are told
    Stream,
    /// What you are asked
    Review,
    /// The record
    Activity,
    All,
}

#[derive(Debug, Args)]
pub struct Top {
    /// The folder whose conversation the Stream begins with
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// Which conversation about it, by a name of your own [default: the one without a name]
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Refused: who asks for it is told what there is for scripts
    #[arg(long, hide = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Trace {
    /// Write one page of a task, whole in itself, and say where it is
    Open(TraceOpen),
}

#[derive(Debug, Args)]
pub struct TraceOpen {
    /// A task's id, or the end of it, or that of one of its executions [default: the newest task]
    pub task: Option<String>,
    /// Write the page here [default: traces/ in the data directory]
    #[arg(long = "output", short, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Only write the page: do not show it on the desktop
    #[arg(long)]
    pub no_open: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(mut_arg("json", |json| json.help("Print one JSON object, the explanation")))]
pub struct Explain {
    /// A planned task's id, or the end of it [default: the newest task]
    pub task: Option<String>,
    /// One item of its plan, by its id: how it stands and why, what it needs, what was tried
    pub atom: Option<String>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(mut_arg("json", |json| json.help("Print one JSON object a line: each group, each item, and the result")))]
pub struct Graph {
    /// A planned task's id, or the end of it [default: the newest task]
    pub task: Option<String>,
    /// Write a drawing here, whole in itself
    #[arg(long, value_name = "FILE", conflicts_with = "mermaid")]
    pub svg: Option<PathBuf>,
    /// Print a Mermaid flowchart, for documents that draw such
    #[arg(long, conflicts_with = "json")]
    pub mermaid: bool,
    /// Also what is done or given up, item by item
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Ctrl-] twice leaves it, and it goes on. Several may look at the same one; it is as large as the smallest of their terminals."
)]
pub struct Attach {
    /// An execution's or a task's id, or the end of it [default: the only one that is open]
    pub id: Option<String>,
}

#[derive(Debug, Args)]
pub struct Replay {
    /// An execution's or a task's id, or the end of it; or an asciicast file
    #[arg(value_name = "ID|FILE")]
    pub what: String,
    /// How fast, as a multiple
    #[arg(long, value_name = "N", default_value_t = 1.0, allow_negative_numbers = true)]
    pub speed: f64,
    /// The longest pause, in seconds
    #[arg(long, value_name = "S", default_value_t = 2.0, allow_negative_numbers = true)]
    pub idle_limit: f64,
}
