//! A tool call of an agent over the Agent Client Protocol. It is told in pieces: announced with no input, then filled in, asked about
//! with other words than it was announced with, and ended. Here the pieces become one call, and what is proposed is said in our words.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use windlass_domain::execution::Observation;

use crate::jsonrpc::{kept, kept_input, list, observed, text};
use crate::{CommandLine, Event, Proposal, Proposed};

#[derive(Debug, Default)]
pub struct Call {
    id: String,
    /// What it was announced as: in some agents the tool's name, in others a sentence.
    announced: String,
    kind: String,
    input: Value,
    /// What is shown of it where the agent does not give its input.
    shown: Value,
    paths: Vec<PathBuf>,
    progress: Progress,
    /// How much is remembered of it.
    weight: usize,
}

#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
enum Progress {
    #[default]
    Announced,
    Told,
    Ended,
}

impl Call {
    pub fn new(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }

    /// Takes in a `tool_call`, a `tool_call_update`, or the call in a question; says what that makes known.
    pub fn update(&mut self, told: &Value) -> Vec<Event> {
        self.learn(told);
        match text(told, "/status") {
            "in_progress" => self.begun(),
            end @ ("completed" | "failed") => self.ended(end == "failed", told),
            _ => Vec::new(),
        }
    }

    fn learn(&mut self, told: &Value) {
        if self.announced.is_empty() {
            self.announced = text(told, "/title").to_owned();
        }
        let kind = text(told, "/kind");
        if self.kind.is_empty() || self.kind == "other" {
            kind.clone_into(&mut self.kind);
        }
        match told.get("rawInput") {
            Some(Value::Object(input)) if input.is_empty() => {}
            Some(Value::Null) | None => {}
            Some(input) => self.input = merged(&self.input, input),
        }
        if self.progress == Progress::Announced {
            self.shown = json!({ "title": told.get("title"), "content": told.get("content") });
        }
        let paths: Vec<PathBuf> =
            list(told, "/locations").iter().map(|location| PathBuf::from(text(location, "/path"))).collect();
        if !paths.is_empty() {
            self.paths = paths;
        }
        self.weigh();
    }

    fn weigh(&mut self) {
        let of_paths: usize = self.paths.iter().map(|path| path.as_os_str().len()).sum();
        let words = [&self.id, &self.announced, &self.kind].map(String::len).iter().sum::<usize>();
        self.weight = words + of_paths + weight(&self.input) + weight(&self.shown);
    }

    pub const fn weight(&self) -> usize {
        self.weight
    }

    pub fn has_ended(&self) -> bool {
        self.progress == Progress::Ended
    }

    /// The call is at work, or about to be: it is told once.
    pub fn begun(&mut self) -> Vec<Event> {
        if self.progress != Progress::Announced {
            return Vec::new();
        }
        self.progress = Progress::Told;
        let observation =
            Observation::Called { call: self.id.clone(), tool: self.tool(), input: kept_input(&self.arguments()) };
        vec![observed(format!("{}:called", self.id), observation)]
    }

    /// A command of which it was only said that there will be one.
    pub fn is_half_told(&self) -> bool {
        self.kind == "execute" && self.progress == Progress::Announced
    }

    fn ended(&mut self, is_error: bool, told: &Value) -> Vec<Event> {
        if self.progress == Progress::Ended {
            return Vec::new();
        }
        let mut events = self.begun();
        self.progress = Progress::Ended;
        // There may be many in a conversation, and what they were given is told.
        (self.input, self.shown) = (Value::Null, Value::Null);
        self.weigh();
        let observation = Observation::CallEnded { call: self.id.clone(), is_error, output: output(told) };
        events.push(observed(format!("{}:ended", self.id), observation));
        events
    }

    /// What we call such a tool. Where an agent announces a call by its tool's name, that name tells a new file from a change.
    fn tool(&self) -> String {
        match (self.kind.as_str(), self.announced.as_str()) {
            ("execute", _) if self.is_command() => "bash",
            ("edit", "write") => "write",
            ("edit" | "delete" | "move", _) => "edit",
            ("read", _) => "read",
            ("fetch", _) => "web_fetch",
            (kind, "") => kind,
            (_, announced) => announced,
        }
        .to_owned()
    }

    fn is_command(&self) -> bool {
        self.input.is_null() || self.input.get("command").is_some()
    }

    /// As the agent gave them, or as it showed them where it gives none.
    fn arguments(&self) -> Value {
        if self.input.is_null() { self.shown.clone() } else { self.input.clone() }
    }

    pub fn proposed(&self) -> Proposed {
        Proposed { tool: self.tool(), arguments: self.arguments(), proposal: self.proposal() }
    }

    fn proposal(&self) -> Proposal {
        match self.kind.as_str() {
            "execute" if self.is_command() => Proposal::Command { line: self.line(), cwd: self.cwd() },
            "edit" | "delete" | "move" if !self.paths.is_empty() => Proposal::Change { paths: self.paths.clone() },
            "read" | "search" if !self.paths.is_empty() => Proposal::Read { paths: self.paths.clone() },
            "fetch" if !text(&self.input, "/url").is_empty() => {
                Proposal::Fetch { url: text(&self.input, "/url").to_owned() }
            }
            _ => Proposal::Other,
        }
    }

    /// What the call itself asks for goes before where the agent is.
    fn cwd(&self) -> Option<PathBuf> {
        let named = ["workdir", "cwd"].iter().find_map(|name| self.input.get(*name)?.as_str());
        named.map(PathBuf::from)
    }

    fn line(&self) -> CommandLine {
        match self.input.get("command") {
            Some(Value::Array(words)) => {
                CommandLine::Words(words.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            Some(line) => CommandLine::Shell(line.as_str().unwrap_or_default().to_owned()),
            None => CommandLine::Shell(text(&self.shown, "/title").to_owned()),
        }
    }
}

/// About how many bytes a value holds.
pub fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(|value| weight(value) + 8).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + weight(value) + 8).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

/// A question may show a part of what was announced, or more of it: later words win, and none is lost.
fn merged(before: &Value, after: &Value) -> Value {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let all: Map<String, Value> =
                before.iter().chain(after).map(|(key, value)| (key.clone(), value.clone())).collect();
            Value::Object(all)
        }
        _ => after.clone(),
    }
}

fn output(told: &Value) -> String {
    let texts: Vec<&str> =
        list(told, "/content").iter().filter_map(|part| part.pointer("/content/text")?.as_str()).collect();
    if !texts.is_empty() {
        return kept(&texts.join("\n"));
    }
    match told.get("rawOutput") {
        Some(Value::String(text)) => kept(text),
        Some(Value::Null) | None => kept(text(told, "/_meta/terminal_output_delta/data")),
        Some(value) => kept(&value.to_string()),
    }
}
