//! What can be typed about objectives.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};
use windlass_domain::role_output::WantedLimits;

use super::{DeadlineChoice, Output, PlanningLimits, SandboxChoice};

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(group = clap::ArgGroup::new("how").required(true).multiple(false).args(["request", "from", "goal", "task"]))]
pub struct Align {
    /// What you want, in your own words: a planner asks what it must know, and writes the objective
    pub request: Option<String>,
    /// Begin with this objective file instead
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Have an objective written again that is not begun yet; --change says what is to be different
    #[arg(long, value_name = "TASK", requires = "change")]
    pub task: Option<String>,
    /// What is to be different
    #[arg(long, value_name = "TEXT", requires = "task", allow_hyphen_values = true)]
    pub change: Option<String>,
    #[command(flatten)]
    pub objective: ObjectiveWords,
    /// The folder to work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// A rule that everybody who works on it must keep to; may be repeated
    #[arg(long = "constraint", value_name = "TEXT", allow_hyphen_values = true)]
    pub constraints: Vec<String>,
    /// The model to ask, of planners and of those who work [default: `models` in windlass.toml, or LITELLM_MODEL]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Play this script instead of asking a model
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub rehearsal: Option<PathBuf>,
    #[command(flatten)]
    pub bounds: ConstraintWords,
    #[command(flatten)]
    pub limits: AligningLimits,
    #[command(flatten)]
    #[serde(skip)]
    pub sandbox: SandboxChoice,
    #[command(flatten)]
    pub output: Output,
}

/// What an objective's planner and agents are held to, besides what is agreed on. `--max-iterations` is the objective's own here.
#[derive(Debug, Args, Serialize, Deserialize)]
pub struct AligningLimits {
    /// How many tokens writing the objective may use [default: 100000]
    #[arg(long, value_name = "N", help_heading = "Agents", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_tokens: Option<u64>,
    /// How much writing the objective may cost, in US dollars [default: 1.00]
    #[arg(long, value_name = "USD", allow_negative_numbers = true, help_heading = "Agents")]
    pub max_cost: Option<f64>,
    /// How many model calls an attempt of anybody may make [default: 200]
    #[arg(long, value_name = "N", help_heading = "Agents", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_model_calls: Option<u32>,
    /// How long an attempt of anybody may take, in seconds [default: 600]
    #[arg(long, value_name = "SECONDS", help_heading = "Agents", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
}

impl From<AligningLimits> for PlanningLimits {
    fn from(limits: AligningLimits) -> Self {
        let AligningLimits { max_tokens, max_cost, max_model_calls, timeout } = limits;
        Self { max_tokens, max_cost, max_iterations: max_model_calls, timeout }
    }
}

/// What is wanted, said here.
#[derive(Debug, Clone, Args, Default, Serialize, Deserialize)]
pub struct ObjectiveWords {
    /// What is to be reached
    #[arg(long, value_name = "TEXT", help_heading = "Objective", allow_hyphen_values = true)]
    pub goal: Option<String>,
    /// A check that decides when it is reached, as YAML, such as `command: cargo test`; may be repeated
    #[arg(long = "base-case", value_name = "CHECK", help_heading = "Objective", allow_hyphen_values = true)]
    pub base_case: Vec<String>,
    /// Why it is done
    #[arg(long, value_name = "TEXT", help_heading = "Objective", allow_hyphen_values = true)]
    pub intent: Option<String>,
    /// What comes of it; may be repeated
    #[arg(long = "deliverable", value_name = "TEXT", help_heading = "Objective", allow_hyphen_values = true)]
    pub deliverables: Vec<String>,
    /// When a person would call it done
    #[arg(long, value_name = "TEXT", help_heading = "Objective", allow_hyphen_values = true)]
    pub done: Option<String>,
}

#[derive(Debug, Args)]
pub struct Start {
    /// The objective's task: its id, or the end of it [default: what is agreed on in this folder]
    pub task: Option<String>,
    /// The second step that what reaches beyond the folder asks for, where there is no terminal to ask it on
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub deadline: DeadlineChoice,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Stop {
    /// A task's id, or the end of it [default: the newest of this folder that is worked on]
    pub task: Option<String>,
    /// Why; it stands in the journal
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub reason: String,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub struct Redirect {
    /// The objective's task: its id, or the end of it [default: the one of this folder]
    pub task: Option<String>,
    /// What is to be different, in your own words: a planner turns them into a change, which you are asked about. Several words
    /// are taken as this though no task is named
    #[arg(allow_hyphen_values = true)]
    pub words: Option<String>,
    #[command(flatten)]
    pub objective: ObjectiveWords,
    /// A new atom, as YAML: `{id: …, description: …, depends_on: […], verify: […]}`; may be repeated
    #[arg(long = "add", value_name = "ATOM", help_heading = "Graph", allow_hyphen_values = true)]
    pub add: Vec<String>,
    /// What is to hold the new atoms [default: the whole]
    #[arg(long = "to", value_name = "ATOM", help_heading = "Graph", requires = "add")]
    pub to: Option<String>,
    /// Do without this atom, and everything in it; may be repeated
    #[arg(long = "drop", value_name = "ATOM", help_heading = "Graph")]
    pub drop: Vec<String>,
    /// Take this way, whatever was taken; may be repeated
    #[arg(long = "select", value_name = "GROUP=CHOICE", help_heading = "Graph")]
    pub select: Vec<String>,
    #[command(flatten)]
    pub limits: ConstraintWords,
    /// What an atom that is done came to, in other words: what rests on it is done again
    #[arg(long = "binding", value_name = "ATOM=TEXT", help_heading = "Bindings", allow_hyphen_values = true)]
    pub binding: Option<String>,
    /// Why, in a sentence; it stands in the journal
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub note: Option<String>,
    /// Do not ask whether it is meant
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub output: Output,
}

/// The limits of an objective.
#[derive(Debug, Clone, Args, Default, Serialize, Deserialize)]
pub struct ConstraintWords {
    /// Passes in all, each of which starts at most as many agents as may work at once; usually 20
    #[arg(long, visible_alias = "max-passes", value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iterations: Option<u32>,
    /// Agents at once; usually 3
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_parallel_agents: Option<u32>,
    /// Passes in a row in which nothing becomes less, before something else is tried; usually 3
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_stall_count: Option<u32>,
    /// Atoms that there may ever be; usually 200
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_atoms: Option<u32>,
    /// Choices that there may ever be; usually 50
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_choices: Option<u32>,
    /// How often something may be split into smaller parts; usually 2
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_split_depth: Option<u32>,
    /// Plans that may follow the first; usually 2
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_replan_depth: Option<u32>,
}

impl ConstraintWords {
    pub fn wanted(&self) -> WantedLimits {
        WantedLimits {
            max_iterations: self.max_iterations.and_then(NonZeroU32::new),
            max_parallel_agents: self.max_parallel_agents.and_then(NonZeroU32::new),
            max_stall_count: self.max_stall_count.and_then(NonZeroU32::new),
            max_atoms: self.max_atoms.and_then(NonZeroU32::new),
            max_choices: self.max_choices,
            max_split_depth: self.max_split_depth,
            max_replan_depth: self.max_replan_depth,
        }
    }
}
