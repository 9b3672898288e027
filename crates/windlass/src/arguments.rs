//! The command line: what can be typed, and the help that explains it.

mod agents;
mod elsewhere;
mod forking;
mod looking;
mod mcp;
mod objectives;
mod offered;
mod schedules;
mod sending;
mod serving;
mod store;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

pub use self::agents::{Agent, AgentTest, Agents};
pub use self::elsewhere::Elsewhere;
pub use self::forking::Fork;
pub use self::looking::{Attach, Explain, Graph, Log, Replay, Status, SurfaceName, Top, Trace, TraceOpen};
pub use self::mcp::{Mcp, McpList, McpPin, McpServe};
pub use self::objectives::{Align, AligningLimits, ConstraintWords, ObjectiveWords, Redirect, Start, Stop};
pub use self::offered::{
    Patterns, PatternsCheck, PatternsList, PatternsShow, Skills, SkillsCheck, SkillsList, SkillsShow,
};
pub use self::schedules::{DeadlineActionName, DeadlineChoice, SchedulesAdd, SchedulesCommand, SchedulesRemove};
pub use self::sending::Send;
pub use self::serving::{Serve, Token, TokenAdd};
pub use self::store::{Prune, Store, StoreBackup, StoreMigrate};

#[derive(Debug, Parser)]
#[command(
    name = "windlass",
    version,
    about = "A durable runtime for autonomous agents",
    long_about = "A durable runtime for autonomous agents.\n\n\
        State an objective and a check that a machine can make. Windlass works on it in a sandbox until the check \
        passes, survives crashes without losing or repeating work, and stops.\n\n\
        To see it work, with no key and no network: windlass demo",
    after_help = "Exit codes: 0 completed, 1 failed, 2 wrong use, 3 blocked on the user, 4 stopped or cancelled, 5 paused."
)]
pub struct Arguments {
    #[command(flatten)]
    pub elsewhere: Elsewhere,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Let an agent work on a goal until the checks pass
    Run(Box<Run>),
    /// Say something in the conversation about a folder: an answer, or work that begins with it
    Say(Box<Say>),
    /// Watch rehearsed agents reach an objective: no key, no network
    Demo(Demo),
    /// Show the tasks of this data directory, or one of them
    Status(Status),
    /// Show what happened in a task, step by step
    Log(Log),
    /// See and type into the terminal of an agent that was begun with `run --terminal`
    Attach(Attach),
    /// Play what was shown in an agent's terminal again
    Replay(Replay),
    /// Say why a planned task does what it does, what failed, what is left to try, and what was promised
    Explain(Explain),
    /// Draw the work of a planned task: what is done, what is at work, what waits for what, which ways there are
    Graph(Graph),
    /// Look at what happened in a browser
    #[command(subcommand)]
    Trace(Trace),
    /// Agree on an objective: what is wanted, and the checks that tell a machine when it is there
    Align(Box<Align>),
    /// Begin an objective that was agreed on, or go on with it
    Start(Start),
    /// Stop a task now, and keep everything as it is until it is started again
    Stop(Stop),
    /// Have a task rest, as Ctrl-C does where it is worked on, until it is resumed
    Pause(Stop),
    /// Change an objective while it is worked on: what it is, its graph, its limits, or what something came to
    Redirect(Box<Redirect>),
    /// Go on with a task that was paused or interrupted
    Resume(Resume),
    /// Stop a task for good, also from another terminal
    Cancel(Cancel),
    /// Show what agents ask you for: the oldest question whole, the others in a line each
    Inbox(Inbox),
    /// Watch, decide and steer on one page of this terminal: conversations, what you are asked, and what happened
    Top(Top),
    /// Let an agent do what a card asks for, exactly as the card shows it
    Approve(Approve),
    /// Refuse what a card asks for; the agent is told and goes on without it
    Deny(Deny),
    /// Send a card back: the agent is told what to do differently
    Edit(Edit),
    /// Tell a task something: the answer to what its agent asks, or words that it hears before its next step
    Send(Send),
    /// Go on with the conversation of an earlier run in a new one, from any of its turns
    Fork(Box<Fork>),
    /// Work on tasks of this data directory: submitted with --detach, answered, or left behind
    Worker(Worker),
    /// Take requests from other programs over HTTP, and work on what they ask for
    Serve(Serve),
    /// Who else may use `windlass serve`, and for what
    #[command(subcommand)]
    Token(Token),
    /// Have a plan written for a request, look at it, and let agents carry it out; or check a plan document
    #[command(
        after_help = "`windlass plan check FILE` checks a plan document. To carry one out: windlass run --plan FILE",
        override_usage = "windlass plan [OPTIONS] <REQUEST>\n       windlass plan check <FILE>"
    )]
    Plan(Box<Plan>),
    /// Goals that are looked at again and again, and mended where they do not hold
    #[command(subcommand)]
    Goals(GoalsCommand),
    /// Deadlines, monitors and goals: what is due when; and having an agent look at something from time to time
    #[command(subcommand)]
    Schedules(SchedulesCommand),
    /// Show the gates that hold here, or try some out
    #[command(subcommand)]
    Gates(Gates),
    /// What agents here may read up on
    #[command(subcommand)]
    Skills(Skills),
    /// Show who may be given work with --agent: what is installed, and what each can do
    Agents(Agents),
    /// Try out an agent's program
    #[command(subcommand)]
    Agent(Agent),
    /// The kinds of work that agents can be led through step by step
    #[command(subcommand)]
    Patterns(Patterns),
    /// Files that tasks have left in a folder after reading external content
    #[command(subcommand)]
    Labels(LabelsCommand),
    /// What agents that plan and look around find of earlier tasks: list it, search it, forget parts of it
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// MCP servers that you have configured: show what they offer, accept it; and one that serves other agents
    #[command(subcommand)]
    Mcp(Mcp),
    /// Messages that nobody takes any more: list, read, retry or drop them
    DeadLetters(DeadLetters),
    /// Show what was allowed, refused and handed over, and prove that nobody changed it
    #[command(subcommand)]
    Audit(Audit),
    /// The keys that approvals and audits are signed with
    #[command(subcommand)]
    Keys(Keys),
    /// The store as a whole: move it to PostgreSQL, keep a copy, take away what is old
    #[command(subcommand)]
    Store(Store),
    /// Say what is missing on this machine and how to get it
    Doctor(Doctor),
    /// Play scripted models
    #[command(subcommand)]
    Rehearse(Rehearse),
}

impl Command {
    /// As it is typed.
    pub fn name(&self) -> String {
        match self {
            // Of these others can be had from elsewhere.
            Self::Mcp(Mcp::Pin(_)) => return "mcp pin".to_owned(),
            Self::Mcp(Mcp::Serve(_)) => return "mcp serve".to_owned(),
            _ => {}
        }
        // `Run(Run { … })` and `DeadLetters(…)`: what stands before the first bracket, with a dash before each inner capital.
        let debug = format!("{self:?}");
        let variant = debug.split(['(', ' ']).next().unwrap_or_default();
        let dashed = variant.char_indices().map(|(at, letter)| match letter.is_uppercase() && at > 0 {
            true => format!("-{}", letter.to_ascii_lowercase()),
            false => letter.to_ascii_lowercase().to_string(),
        });
        dashed.collect()
    }
}

#[derive(Debug, Args)]
pub struct Run {
    /// What should be done, in your own words
    #[arg(required_unless_present = "plan", conflicts_with = "plan")]
    pub goal: Option<String>,
    /// Carry out this plan document instead: it is shown, and begins when you have approved it
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// The folder to work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// A check that decides when the work is done, as YAML, such as `command: cargo test`; may be repeated
    #[arg(long = "base-case", value_name = "CHECK", allow_hyphen_values = true)]
    pub base_case: Vec<String>,
    /// A rule the agent must keep to; may be repeated
    #[arg(long = "constraint", value_name = "TEXT", allow_hyphen_values = true)]
    pub constraints: Vec<String>,
    /// A text file or an image that belongs to the goal; may be repeated
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// The agent to run
    #[arg(long, value_name = "ID", default_value = "executor")]
    pub agent: String,
    /// Run the agent on its own screen instead: you see it and type into it, others by `windlass attach`
    #[arg(long)]
    pub terminal: bool,
    /// The model to ask [default: LITELLM_MODEL]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Lead the agent through the steps of this kind of work (see `windlass patterns list`)
    #[arg(long, value_name = "NAME")]
    pub pattern: Option<String>,
    /// Give the model no tools: ask it for one decision at a time [default: for models with `tool_calls = false`]
    #[arg(long)]
    pub tactician: bool,
    /// Play this script instead of asking a model
    #[arg(long, value_name = "FILE")]
    pub rehearsal: Option<PathBuf>,
    /// Leave it to workers: print the task's id and go (see `windlass worker`)
    #[arg(long)]
    pub detach: bool,
    #[command(flatten)]
    pub limits: Limits,
    #[command(flatten)]
    pub deadline: DeadlineChoice,
    #[command(flatten)]
    pub sandbox: SandboxChoice,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct Say {
    /// What you want to say; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    pub message: String,
    /// Which conversation about the folder, by a name of your own [default: the one without a name]
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// The folder that it is about
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// The model to ask, of everybody [default: `models` in windlass.toml, or LITELLM_MODEL]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Play this script instead of asking a model
    #[arg(long, value_name = "FILE")]
    pub rehearsal: Option<PathBuf>,
    /// Hear the answer, and leave work that begins with it to workers (see `windlass worker`)
    #[arg(long)]
    pub detach: bool,
    #[command(flatten)]
    pub limits: PlanningLimits,
    #[command(flatten)]
    pub sandbox: SandboxChoice,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct Limits {
    /// How many model calls an attempt may make [default: 200]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    pub max_iterations: Option<u32>,
    /// How long an attempt may take, in seconds [default: 600]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, help_heading = "Limits")]
    pub timeout: Option<u64>,
    /// How many tokens the task may use [default: 200000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    pub max_tokens: Option<u64>,
    /// How much the task may cost, in US dollars [default: 2.00]
    #[arg(long, value_name = "USD", allow_negative_numbers = true, help_heading = "Limits")]
    pub max_cost: Option<f64>,
    /// How often to try again while the checks fail [default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    pub max_attempts: Option<u32>,
}

#[derive(Debug, Clone, Default, Args)]
pub struct SandboxChoice {
    /// What confines the agent's commands [default: CONTAINER_MODE, or bubblewrap]
    #[arg(long, value_enum, help_heading = "Sandbox")]
    pub sandbox: Option<SandboxName>,
    /// Needed for `--sandbox process`: commands then run as you, with your files and your network
    #[arg(long, help_heading = "Sandbox")]
    pub no_isolation: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxName {
    Bubblewrap,
    Docker,
    Process,
}

#[derive(Debug, Args, Clone, Copy, Serialize, Deserialize)]
pub struct Output {
    /// Print one JSON object a line, the last one the result
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Demo {
    /// Throw away an interrupted demo and begin again
    #[arg(long)]
    pub fresh: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct Resume {
    /// A task's id, or the end of it [default: the newest that is not finished]
    pub task: Option<String>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Cancel {
    /// A task's id, or the end of it
    #[arg(required_unless_present = "machine")]
    pub task: Option<String>,
    /// The task's machine is lost for good: end it here and now; without a task, all that this machine had
    #[arg(long, value_name = "NAME")]
    #[serde(default)]
    pub machine: Option<String>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Inbox {
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Approve {
    /// A card's id, or the end of it
    pub card: String,
    /// A word that goes with it; the agent is told
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub note: String,
    /// What the approval depends on, signed with it and told to the agent; may be repeated
    #[arg(long = "condition", value_name = "TEXT")]
    pub conditions: Vec<String>,
    /// The second step that high risks ask for, where there is no terminal to ask it on
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Deny {
    /// A card's id, or the end of it
    pub card: String,
    /// Why; the agent is told
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub note: String,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Edit {
    /// A card's id, or the end of it
    pub card: String,
    /// What should be done differently; the agent is told
    #[arg(long, value_name = "TEXT")]
    pub note: String,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
#[command(mut_arg("json", |json| json.help(
    "Print one JSON object a line: tasks as they are taken, parked and ended, and how the queue fares; no result"
)))]
pub struct Worker {
    /// How many tasks to work on at a time, at most eight of them of one tenant
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub concurrency: usize,
    /// Stop when there is nothing to do
    #[arg(long)]
    pub until_idle: bool,
    /// Show Prometheus how the work goes, at http://ADDRESS/metrics; such as 127.0.0.1:9464
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<std::net::SocketAddr>,
    /// Asked to end by SIGTERM, how long what was begun may go on before it is left to others
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub drain: u64,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, disable_help_subcommand = true)]
pub struct Plan {
    #[command(subcommand)]
    pub action: Option<PlanAction>,
    /// What should be done, in your own words
    #[arg(required = true)]
    pub request: Option<String>,
    /// The folder to work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// A rule that everybody who works on it must keep to; may be repeated
    #[arg(long = "constraint", value_name = "TEXT", allow_hyphen_values = true)]
    pub constraints: Vec<String>,
    /// A text file or an image that belongs to the request; may be repeated
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// The model to ask, of planners and of those who work [default: `models` in windlass.toml, or LITELLM_MODEL]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Play this script instead of asking a model
    #[arg(long, value_name = "FILE")]
    pub rehearsal: Option<PathBuf>,
    /// Leave it to workers: print the task's id and go (see `windlass worker`)
    #[arg(long)]
    pub detach: bool,
    #[command(flatten)]
    pub limits: PlanningLimits,
    #[command(flatten)]
    pub deadline: DeadlineChoice,
    #[command(flatten)]
    pub sandbox: SandboxChoice,
    #[command(flatten)]
    pub output: Output,
}

/// What the work may use is for the plan to say, and for you to approve.
#[derive(Debug, Default, Args)]
pub struct PlanningLimits {
    /// How many tokens writing the plan may use [default: 100000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    pub max_tokens: Option<u64>,
    /// How much writing the plan may cost, in US dollars [default: 1.00]
    #[arg(long, value_name = "USD", allow_negative_numbers = true, help_heading = "Limits")]
    pub max_cost: Option<f64>,
    /// How many model calls an attempt of anybody may make [default: 200]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    pub max_iterations: Option<u32>,
    /// How long an attempt of anybody may take, in seconds [default: 600]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, help_heading = "Limits")]
    pub timeout: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub enum PlanAction {
    /// Say what a plan document means and what it can cost, or everything that is wrong with it
    Check(PlanCheck),
}

#[derive(Debug, Args)]
pub struct PlanCheck {
    /// The plan document
    pub file: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand)]
pub enum Gates {
    /// Show every gate, the shipped one first
    List(Output),
    /// Say what the gates of a file decide about an input
    Test(GatesTest),
}

#[derive(Debug, Args)]
pub struct GatesTest {
    /// The gate file
    pub file: PathBuf,
    /// What the gates are to look at, as JSON, or `@` and a file of it
    #[arg(long, value_name = "JSON|@FILE", allow_hyphen_values = true)]
    pub input: String,
    /// When the gates look [default: the one that fits the input]
    #[arg(long, value_enum, value_name = "TRIGGER")]
    pub trigger: Option<TriggerName>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum TriggerName {
    EveryUserMessage,
    OnToolCall,
    AfterStep,
    EveryAgentResponse,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelsCommand {
    /// Show which files of a folder count as external
    Show(LabelsShow),
    /// Say that you have looked at a folder: its files count as your own again
    Clear(LabelsClear),
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct LabelsShow {
    /// The folder that agents work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct LabelsClear {
    /// The folder that agents work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand)]
pub enum GoalsCommand {
    /// Take a goal in, and ask you once for leave to mend it
    Add(GoalsAdd),
    /// Show all goals: when each is looked at next, and how it stood the last time
    List(Output),
    /// Look at it no more, until it is resumed
    Pause(GoalNamed),
    /// Look at it again
    Resume(GoalNamed),
    /// Forget it, and the leave to mend it
    Remove(GoalNamed),
    /// Look at it now
    Run(GoalNamed),
}

/// On one word, unless said otherwise, here or over the service.
pub const MOST_FIXES: u32 = 10;

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct GoalsAdd {
    /// A plan document of `type: goal` (docs/goals.md)
    #[serde(skip)]
    pub file: PathBuf,
    /// How often it may be mended before you are asked again
    #[arg(long, value_name = "N", default_value_t = MOST_FIXES, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_fixes: u32,
    /// The folder it is about
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// The model to ask [default: LITELLM_MODEL]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Play this script instead of asking a model
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub rehearsal: Option<PathBuf>,
    #[command(flatten)]
    pub limits: Limits,
    #[command(flatten)]
    #[serde(skip)]
    pub sandbox: SandboxChoice,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct GoalNamed {
    /// Its id, as its document has it
    pub name: String,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryCommand {
    /// Show what is remembered, newest first
    List(MemoryList),
    /// Search it as an agent would
    Search(MemorySearch),
    /// Have something found no more
    Forget(MemoryForget),
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct MemoryList {
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct MemorySearch {
    /// What you look for, in words
    pub query: String,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub limit: u32,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct MemoryForget {
    /// Which one: its id, or the end of it as `windlass memory list` shows it
    pub id: String,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct DeadLetters {
    #[command(subcommand)]
    pub action: Option<DeadLetterAction>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeadLetterAction {
    /// Show all of them, newest first
    List(Output),
    /// Show one, with what it says
    Show(DeadLetter),
    /// Put one back into its queue
    Retry(DeadLetter),
    /// Throw one away
    Drop(DeadLetter),
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct DeadLetter {
    /// A message's id, or the end of it
    pub id: String,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand)]
pub enum Audit {
    /// Show the audit's events, newest last
    Show(AuditShow),
    /// Check every event against its chain and the signed heads
    Verify(Output),
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct AuditShow {
    /// Only events of this type; may be repeated
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub types: Vec<AuditTypeName>,
    /// Only events about this task: its id, or the end of it
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[value(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum AuditTypeName {
    Enqueue,
    Dequeue,
    Approval,
    Verify,
    Check,
    GateBlock,
}

#[derive(Debug, Subcommand)]
pub enum Keys {
    /// Make the first key
    Init(Output),
    /// Make a new key in place of the current one; what earlier keys signed still counts
    Rotate(Output),
    /// Show the public halves of all keys there ever were
    List(Output),
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// Show every setting that holds here instead, and who said so: a variable, a line of windlass.toml, or nobody
    #[arg(long)]
    pub config: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand)]
pub enum Rehearse {
    /// Serve a script over HTTP as OpenAI chat completions, OpenAI responses and Anthropic messages
    Serve(RehearseServe),
}

#[derive(Debug, Args)]
pub struct RehearseServe {
    /// The script to play
    #[arg(long, value_name = "FILE")]
    pub script: PathBuf,
    /// The port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser as _};

    use super::Arguments;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_command_is_called_as_it_is_typed() {
        for typed in ["worker", "dead-letters"] {
            let parsed = Arguments::try_parse_from(["windlass", typed]).unwrap();
            assert_eq!(parsed.command.name(), typed);
        }
    }
}
