//! The words of `windlass mcp`: servers that agents here use, and the one by which agents elsewhere use Windlass.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use super::{Output, SandboxChoice};

#[derive(Debug, Subcommand)]
pub enum Mcp {
    /// Ask every server what it has, and show what of it you have accepted
    List(McpList),
    /// Accept all tools of a server as it defines them now
    Pin(McpPin),
    /// Be an MCP server on standard input and output: another agent may ask for tasks here, which begin when you approve them
    Serve(McpServe),
    /// Pass standard input and output on to the endpoint of a running agent (WINDLASS_MCP_URL, WINDLASS_MCP_TOKEN)
    #[command(hide = true)]
    Bridge,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct McpList {
    /// The folder over whose sandbox servers start
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct McpPin {
    /// The server's name in windlass.toml
    pub name: String,
    /// Accept what is shown without being asked
    #[arg(long)]
    pub yes: bool,
    /// The folder over whose sandbox the server starts
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct McpServe {
    /// The folder that tasks work in; one may name a folder in it
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// Let it see, answer and cancel the tasks that you began, too
    #[arg(long)]
    pub all: bool,
    /// The model that works on the tasks
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Play a script instead of asking a model
    #[arg(long, value_name = "FILE")]
    pub rehearsal: Option<PathBuf>,
    #[command(flatten)]
    pub sandbox: SandboxChoice,
}
