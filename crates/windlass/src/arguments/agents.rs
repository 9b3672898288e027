//! What can be typed about the agents that may be given work.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use super::Output;

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(mut_arg("json", |json| json.help("Print one JSON object a line, one for each agent, and the result")))]
pub struct Agents {
    /// Ask no program for its version: nothing is started
    #[arg(long)]
    pub no_versions: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand)]
pub enum Agent {
    /// Start an agent's program in a sandbox, exchange one word with it, and say what works and what does not
    Test(AgentTest),
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct AgentTest {
    /// Which agent (see `windlass agents`)
    #[arg(value_name = "AGENT")]
    pub name: String,
    /// Let it ask this model of the server that is configured, which costs a few tokens [default: a script that is built in]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Play this script instead
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    #[serde(skip)]
    pub rehearsal: Option<PathBuf>,
    /// How long all of it may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    #[command(flatten)]
    pub output: Output,
}
