//! `windlass fork`: what can be said about a run that goes on with an earlier conversation.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Limits, Output, SandboxChoice};

#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub struct Fork {
    /// An execution's id, or the end of it; of a task, its newest execution is meant
    pub execution: String,
    /// What to go on with [default: its task]
    #[arg(allow_hyphen_values = true)]
    pub words: Option<String>,
    /// The last turn that is taken over (see `windlass log --timeline`) [default: the last that is complete]
    #[arg(long, value_name = "N")]
    pub turn: Option<u32>,
    /// The folder to work in [default: the one that it worked in]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// A check that decides when the work is done, as YAML, such as `command: cargo test`; may be repeated
    #[arg(long = "base-case", value_name = "CHECK", allow_hyphen_values = true)]
    pub base_case: Vec<String>,
    /// A rule the agent must keep to; may be repeated
    #[arg(long = "constraint", value_name = "TEXT", allow_hyphen_values = true)]
    pub constraints: Vec<String>,
    /// A text file or an image that belongs to what is said; may be repeated
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub attach: Vec<PathBuf>,
    /// The model to ask [default: the one that it asked]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Play this script instead of asking a model [default: the one that it played]
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub rehearsal: Option<PathBuf>,
    /// Leave it to workers: print the task's id and go (see `windlass worker`)
    #[arg(long)]
    pub detach: bool,
    #[command(flatten)]
    pub limits: Limits,
    #[command(flatten)]
    #[serde(skip)]
    pub sandbox: SandboxChoice,
    #[command(flatten)]
    pub output: Output,
}
