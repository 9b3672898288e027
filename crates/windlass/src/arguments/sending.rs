//! What can be typed to say something to a task.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use windlass_domain::execution::MessageKind;

use super::Output;

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Send {
    /// A task's id or that of the execution that works on it, or the end of one
    pub task: String,
    /// What you want to say, or the name of a model; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, required_unless_present_any = ["kind", "list"])]
    pub message: Option<String>,
    /// The question that it answers; needed where the task has asked several
    #[arg(long, value_name = "ID")]
    pub question: Option<String>,
    /// What kind of message it is [default: an answer where there is a question, or a prompt]
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "question")]
    pub kind: Option<KindName>,
    /// Show which kinds can be delivered now, and how; say nothing
    #[arg(long, conflicts_with_all = ["message", "question", "kind"])]
    pub list: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KindName {
    /// Words that the agent goes on with
    Prompt,
    /// The answer to what it asked
    Reply,
    /// Words with which an agent that rests goes on
    Resume,
    /// Say where you are, and go on
    Checkpoint,
    /// Look at what was asked for, and go on
    Nudge,
    /// Stop what you do, and wait for what is said next
    Interrupt,
    /// As `windlass stop`
    Stop,
    /// Ask this model from the next question on
    Model,
}

impl From<KindName> for MessageKind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Prompt => Self::Prompt,
            KindName::Reply => Self::Reply,
            KindName::Resume => Self::Resume,
            KindName::Checkpoint => Self::Checkpoint,
            KindName::Nudge => Self::Nudge,
            KindName::Interrupt => Self::Interrupt,
            KindName::Stop => Self::Stop,
            KindName::Model => Self::Model,
        }
    }
}
