//! Gate files: YAML, a list of gates. Size, depth and nodes are bounded and aliases refused before anything is built. Every
//! problem has its line and column.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::Spanned;

use super::config::{self, Config, Effect, Shared};
use super::sense;
use super::vocabulary::{Escalation, GateType, Provider, Trigger};
use crate::risk::Level;

const MAX_BYTES: usize = 256 * 1024;
const MAX_GATES: usize = 256;

#[derive(Debug, Clone)]
pub struct Gate {
    pub name: String,
    pub on: Trigger,
    pub provider: Provider,
    pub kind: GateType,
    pub config: Config,
    /// The tools it speaks of; none means all.
    pub tools: Vec<String>,
    pub effect: Option<Effect>,
    pub on_block: Escalation,
    pub promote_to_policy: bool,
}

/// What is wrong with a gate file, and where; lines and columns begin at one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BadGate {
    pub line: u64,
    pub column: u64,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadGates(pub Vec<BadGate>);

impl fmt::Display for BadGates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, BadGate { line, column, message }) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{line}:{column}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for BadGates {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Spanned<String>,
    on: Trigger,
    #[serde(default = "predicate")]
    provider: String,
    #[serde(rename = "type")]
    kind: GateType,
    #[serde(default)]
    config: Option<Spanned<Value>>,
    #[serde(default)]
    on_block: Escalation,
    #[serde(default)]
    promote_to_policy: Option<Spanned<bool>>,
}

fn predicate() -> String {
    "predicate".to_owned()
}

pub fn read_gates(text: &str) -> Result<Vec<Gate>, BadGates> {
    if text.len() > MAX_BYTES {
        return Err(at_start(format!("this is larger than {} KiB; make it smaller", MAX_BYTES / 1024)));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_aliases: 0,
            max_anchors: 0,
            max_depth: 32,
            max_nodes: 20_000,
            max_documents: 1,
            max_merge_keys: 0,
        },
    };
    let written: Vec<Written> = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let (line, column) = error.location().map_or((1, 1), |location| (location.line(), location.column()));
        BadGates(vec![BadGate { line: line.max(1), column: column.max(1), message: plain(&error) }])
    })?;
    if written.len() > MAX_GATES {
        return Err(at_start(format!("there are more than {MAX_GATES} gates")));
    }
    let mut problems = Vec::new();
    let mut names = BTreeSet::new();
    let mut gates = Vec::new();
    for written in written {
        if !names.insert(written.name.value.clone()) {
            let message = format!("there is another gate named `{}`", written.name.value);
            problems.push(problem(&written.name, message));
        }
        match gate(written) {
            Ok(gate) => gates.push(gate),
            Err(found) => problems.push(found),
        }
    }
    if problems.is_empty() {
        return Ok(gates);
    }
    problems.sort();
    Err(BadGates(problems))
}

/// The first line of the message, without the excerpt and the position, which are told apart.
fn plain(error: &serde_saphyr::Error) -> String {
    let message = error.without_snippet().to_string();
    let first = message.lines().next().unwrap_or_default();
    first.split(" at line ").next().unwrap_or(first).to_owned()
}

fn at_start(message: String) -> BadGates {
    BadGates(vec![BadGate { line: 1, column: 1, message }])
}

fn problem<T>(spanned: &Spanned<T>, message: String) -> BadGate {
    let at = spanned.referenced;
    BadGate { line: at.line().max(1), column: at.column().max(1), message }
}

fn gate(written: Written) -> Result<Gate, BadGate> {
    let Written { name, on, provider, kind, config, on_block, promote_to_policy } = written;
    if name.value.trim().is_empty() {
        return Err(problem(&name, "a gate needs a name".to_owned()));
    }
    let provider = Provider::named(&provider);
    let promoted = promote_to_policy.filter(|promoted| promoted.value);
    if let Some(promoted) = &promoted
        && provider != Provider::Llm
    {
        return Err(problem(promoted, "only an llm gate can be promoted; the others are policy".to_owned()));
    }
    let value = config.as_ref().map_or(Value::Null, |config| config.value.clone());
    let in_config = |message: String| {
        let message = format!("gate `{}`: {message}", name.value);
        config.as_ref().map_or_else(|| problem(&name, message.clone()), |config| problem(config, message.clone()))
    };
    let (read, Shared { tools, effect }) = config::read(kind, &provider, value).map_err(in_config)?;
    sense::check(on, &read, effect).map_err(in_config)?;
    let promote_to_policy = promoted.is_some();
    Ok(Gate { name: name.value, on, provider, kind, config: read, tools, effect, on_block, promote_to_policy })
}

/// Seed 000's levels as a gate: low and medium pass, high asks, critical blocks.
pub fn risk_gate() -> Gate {
    Gate {
        name: "risk".to_owned(),
        on: Trigger::OnToolCall,
        provider: Provider::Predicate,
        kind: GateType::Risk,
        config: Config::Risk { approve_at: Level::High, block_at: Level::Critical },
        tools: Vec::new(),
        effect: None,
        on_block: Escalation::Report,
        promote_to_policy: false,
    }
}
