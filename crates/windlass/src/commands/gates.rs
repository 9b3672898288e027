//! `windlass gates list | test`: the gates that hold here, and what the gates of a file would say about an input. A test runs
//! scripts as a run would, in a sandbox of their own; it asks no model.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{Runtime, Taint};
use windlass_engine::{GateScript, run_script};
use windlass_policy::gate::{
    Answer, Decision, Evaluation, FileSeen, Gate, Law as Judged, Outcome, Provider, Request, Step, Subject, Trigger,
    risk_gate,
};
use windlass_policy::risk::Place;
use windlass_runtime::TokioRuntime;
use windlass_sandbox::{Bubblewrap, never};

use crate::arguments::{Gates, GatesTest, Output, TriggerName};
use crate::config::Config;
use crate::equipment::policy;
use crate::exit::{Exit, WrongUse};
use crate::law::{read_gate_file, scripts};
use crate::show::{Line, Screen, Style, print_json, word};
use crate::text_file::read_text;
use crate::wiring::{create_private, supervisor};

pub async fn gates(arguments: Gates) -> anyhow::Result<Exit> {
    match arguments {
        Gates::List(output) => list(&Config::load()?, output),
        Gates::Test(arguments) => test(&Config::load()?, arguments).await?,
    }
    Ok(Exit::Completed)
}

fn list(config: &Config, output: Output) {
    let shipped = risk_gate();
    let all = std::iter::once((&shipped, "shipped")).chain(config.law.gates.iter().map(|gate| (gate, "gates.yaml")));
    let all: Vec<(&Gate, &str)> = all.collect();
    if output.json {
        all.iter().for_each(|(gate, source)| print_json(&described(gate, source)));
        return print_json(&json!({"type": "result", "gates": all.len()}));
    }
    let mut screen = Screen::new();
    let width = all.iter().map(|(gate, _)| gate.name.chars().count()).max().unwrap_or_default();
    for (gate, source) in all {
        let (lane, on_block) = (word(&gate.provider.lane()), word(&gate.on_block));
        let promoted = if gate.promote_to_policy { ", promoted" } else { "" };
        let line = Line::new()
            .plain(format!("{:<width$}  ", gate.name))
            .dim(format!("{:<20}  ", word(&gate.on)))
            .plain(format!("{:<15}  ", word(&gate.kind)))
            .dim(format!("{:<9}  {lane:<7}  on block: {on_block}  ({source}{promoted})", provider(gate)));
        screen.print_whole(&line);
    }
}

fn described(gate: &Gate, source: &str) -> Value {
    json!({
        "type": "gate",
        "name": gate.name,
        "on": gate.on,
        "gate_type": gate.kind,
        "provider": provider(gate),
        "lane": gate.provider.lane(),
        "on_block": gate.on_block,
        "promote_to_policy": gate.promote_to_policy,
        "source": source,
    })
}

fn provider(gate: &Gate) -> &str {
    match &gate.provider {
        Provider::Predicate => "predicate",
        Provider::Script => "script",
        Provider::Llm => "llm",
        Provider::Unknown(name) => name,
    }
}

async fn test(config: &Config, arguments: GatesTest) -> anyhow::Result<()> {
    let gates = read_gate_file(&arguments.file)?;
    let input = Input::read(&arguments.input)?;
    let trigger = match arguments.trigger {
        Some(named) => named.into(),
        None => input.trigger()?,
    };
    let judged = Judged { table: &config.law.table, place: &Place::workspace() };
    let mut evaluation = Evaluation::new(&gates, trigger, input.into(), judged);
    let outcome = loop {
        match evaluation.step() {
            Step::Done(outcome) => break *outcome,
            Step::Ask(request) => {
                let answer = answer(config, &arguments.file, request).await?;
                evaluation.answer(answer);
            }
        }
    };
    match arguments.output.json {
        true => tell_json(&outcome, trigger),
        false => tell(&outcome, trigger),
    }
    Ok(())
}

async fn answer(config: &Config, file: &Path, request: Request) -> anyhow::Result<Answer> {
    let (argv, stdin, timeout_seconds) = match request {
        Request::Score { .. } => return Ok(Answer::Failed("no model is asked in a test".to_owned())),
        Request::Script { argv, stdin, timeout_seconds, .. } => (argv, stdin, timeout_seconds),
    };
    create_private(&config.data_dir)?;
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
    let folder = config.data_dir.join("scratch").join(format!("gate-{:032x}", runtime.random()));
    let mut policy = policy(&config.file.sandbox, &folder);
    policy.hidden.push(config.data_dir.clone());
    let scripts = scripts(file, &config.data_dir)?;
    let sandboxes = Bubblewrap::new(supervisor());
    let script = GateScript { argv, stdin, timeout_seconds };
    Ok(run_script(runtime.as_ref(), &sandboxes, policy, scripts.as_deref(), script, never()).await)
}

fn tell_json(outcome: &Outcome, trigger: Trigger) {
    for record in &outcome.records {
        let mut fields = json!(record);
        fields["type"] = json!("record");
        print_json(&fields);
    }
    print_json(&json!({
        "type": "result",
        "trigger": trigger,
        "decision": outcome.decision,
        "by": outcome.by,
        "on_block": outcome.on_block,
        "rewritten": outcome.rewritten,
        "subject": outcome.subject,
    }));
}

fn tell(outcome: &Outcome, trigger: Trigger) {
    let mut screen = Screen::new();
    if outcome.records.is_empty() {
        screen.print(&Line::new().dim(format!("No gate looks at {}.", word(&trigger))));
    }
    for record in &outcome.records {
        let line = Line::marked(style(record.decision), &format!("{:<16}  ", word(&record.decision)));
        let score = record.score.map(|score| format!("  score {score}")).unwrap_or_default();
        screen.print_whole(&line.plain(&record.gate).dim("  ").dim(&record.reason).dim(score));
    }
    for rewrite in &outcome.rewritten {
        let what = format!("{} rewrote `{}`: {} became {}", rewrite.gate, rewrite.field, rewrite.before, rewrite.after);
        screen.print_whole(&Line::marked(Style::Accent, "rewrite           ").plain(what));
    }
    let mut line = Line::new().plain("decision: ").add(style(outcome.decision), word(&outcome.decision));
    if let (Some(by), Some(on_block)) = (&outcome.by, outcome.on_block) {
        line = line.plain(format!(" by {by}")).dim(format!("  on block: {}", word(&on_block)));
    }
    screen.print_whole(&line);
}

const fn style(decision: Decision) -> Style {
    match decision {
        Decision::Continue => Style::Good,
        Decision::RequireApproval => Style::Warn,
        Decision::Block => Style::Bad,
    }
}

/// What gates are shown, as a person writes it: a subject's fields, all of which may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Input {
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
    fn read(argument: &str) -> Result<Self, WrongUse> {
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

    fn trigger(&self) -> Result<Trigger, WrongUse> {
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
