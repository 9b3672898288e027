//! What gates are to look at, as a person writes it for a test: a subject's fields, all of which may be left out.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use windlass_domain::Taint;
use windlass_policy::gate::{FileSeen, Subject, Trigger};

use crate::arguments::TriggerName;
use crate::exit::WrongUse;
use crate::text_file::read_text;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Input {
    message: Option<String>,
    response: Option<String>,
    tool: Option<String>,
    tool_args: Option<Value>,
    step: Option<Value>,
    taint: Option<Taint>,
    files: BTreeMap<String, InputFile>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputFile {
    bytes: u64,
}

impl Input {
    /// From the argument itself, or from the file it names behind an `@`.
    pub fn read(argument: &str) -> Result<Self, WrongUse> {
        let text = match argument.strip_prefix('@') {
            Some(path) => {
                read_text(Path::new(path)).map_err(|error| WrongUse::new(format!("--input @{path}: {error}")))?
            }
            None => argument.to_owned(),
        };
        serde_json::from_str(&text).map_err(|error| {
            WrongUse::new(format!("--input: {error}"))
                .hint(r#"as in {"tool": "bash", "tool_args": {"command": "ls"}, "taint": "auth"}; docs/gates.md has every field"#)
        })
    }

    pub fn trigger(&self) -> Result<Trigger, WrongUse> {
        let fitting = [
            (self.message.is_some(), Trigger::EveryUserMessage),
            (self.tool.is_some(), Trigger::OnToolCall),
            (self.step.is_some(), Trigger::AfterStep),
            (self.response.is_some(), Trigger::EveryAgentResponse),
        ];
        let fitting: Vec<Trigger> = fitting.into_iter().filter(|(fits, _)| *fits).map(|(_, trigger)| trigger).collect();
        match fitting.as_slice() {
            [one] => Ok(*one),
            _ => Err(WrongUse::new("the input fits no one trigger").hint("say which with --trigger")),
        }
    }
}

impl From<Input> for Subject {
    fn from(input: Input) -> Self {
        let Input { message, response, tool, tool_args, step, taint, files } = input;
        let files = files.into_iter().map(|(path, InputFile { bytes })| (path, FileSeen { bytes })).collect();
        // What has no label is external.
        let taint = taint.unwrap_or(Taint::External);
        Self { message, response, tool, tool_args, step, taint, files }
    }
}

impl From<TriggerName> for Trigger {
    fn from(name: TriggerName) -> Self {
        match name {
            TriggerName::EveryUserMessage => Self::EveryUserMessage,
            TriggerName::OnToolCall => Self::OnToolCall,
            TriggerName::AfterStep => Self::AfterStep,
            TriggerName::EveryAgentResponse => Self::EveryAgentResponse,
        }
    }
}
