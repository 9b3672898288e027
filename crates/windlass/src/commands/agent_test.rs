//! `windlass agent test AGENT`: whether a program can be worked with, seen by working with it for a moment. No execution comes of it, and nothing
//! is written to the store.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_adapters::{
    Adapter, Finding, ForeignRunner, Installed, Means, ModelSeen, PROBE_PROMPT, Patience, Probed, Versions,
};
use windlass_domain::Runtime;
use windlass_engine::SubmittedModel;
use windlass_llm::gateway::Upstream;
use windlass_llm::{Dialect, Endpoint, Script, Setup};
use windlass_runtime::TokioRuntime;

use super::agent_place::AgentPlace;
use super::run::{chosen_model, is_known};
use crate::agents::{Found, INSIDE_HOME, INSIDE_WORKSPACE, OURS, briefing, find, missing, versions};
use crate::arguments::{Agent as Command, AgentTest};
use crate::config::{Config, Door};
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Sheet, Style, duration};

const SCRIPT: &str = "version: 1\ntracks: { default: [ { reply: READY, repeat: forever } ] }\n";

pub async fn agent(command: Command) -> anyhow::Result<Exit> {
    let Command::Test(arguments) = command;
    Ok(Box::pin(agent_tested(&Config::load()?, &arguments)).await?.show())
}

pub async fn agent_tested(config: &Config, arguments: &AgentTest) -> anyhow::Result<Sheet> {
    is_known(&arguments.name, config)?;
    let adapter = config.catalogue.find(&arguments.name).ok_or_else(|| {
        WrongUse::new(format!("`{OURS}` is Windlass itself: there is no program to test"))
            .hint("`windlass doctor` says whether this machine is ready for it")
    })?;
    let (model, name) = model(arguments, config)?;
    let agent = adapter.agent();
    let Some(found) = find(agent, &config.agents) else {
        let missing = missing(agent);
        let findings = [Finding::bad("found", missing.message, missing.hint.unwrap_or_default())];
        return Ok(told(arguments, &findings, None));
    };
    let place = AgentPlace::open(config, std::iter::once(&found)).await?;
    let runner = runner(Arc::clone(&adapter), &found, &place, config, (upstream(model, config)?, name));
    let probed = Box::pin(runner.probe(Duration::from_secs(arguments.timeout))).await;
    drop(runner);
    place.close().await;
    if let Some(version) = &probed.version {
        versions(&config.data_dir).correct(&found.known_as(), version);
    }
    let mut findings = vec![Finding::good("found", found.program.display().to_string())];
    findings.extend(probed.findings(agent));
    Ok(told(arguments, &findings, Some(&probed)))
}

/// Who answers, and the model's name there. Nothing has to be configured: without a word about it a script does.
fn model(arguments: &AgentTest, config: &Config) -> anyhow::Result<(SubmittedModel, String)> {
    match (&arguments.rehearsal, &arguments.model) {
        (None, None) => Ok((SubmittedModel::Rehearsal(SCRIPT.to_owned()), "rehearsal".to_owned())),
        (script, name) => chosen_model(script.as_deref(), name.as_deref(), config),
    }
}

fn upstream(model: SubmittedModel, config: &Config) -> anyhow::Result<Upstream> {
    let behind = |dialect, door: &Door| {
        let endpoint = Endpoint { base_url: door.base_url.clone(), key: door.key.clone() };
        Upstream::Model { dialect, endpoint }
    };
    Ok(match model {
        SubmittedModel::OpenAi { .. } => behind(Dialect::Chat, &config.openai),
        SubmittedModel::OpenAiResponses { .. } => behind(Dialect::Responses, &config.openai),
        SubmittedModel::Anthropic { .. } => behind(Dialect::Messages, &config.anthropic),
        SubmittedModel::Rehearsal(text) => {
            let script = Script::parse(&text).map_err(|problems| WrongUse::new(problems.to_string()))?;
            Upstream::Rehearsal { script: Arc::new(script), track: "default".to_owned() }
        }
    })
}

fn runner(
    adapter: Arc<dyn Adapter>,
    found: &Found,
    place: &AgentPlace,
    config: &Config,
    (upstream, model): (Upstream, String),
) -> ForeignRunner {
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
    let mut setup = Setup::new(runtime);
    setup.models = Arc::new(config.models.clone());
    let installed =
        Installed { program: found.inside.clone(), known_as: found.known_as(), versions: Versions::default() };
    ForeignRunner {
        means: Means::Channel { otherwise: None },
        adapter,
        installed,
        sandbox: Arc::clone(&place.sandbox),
        home: INSIDE_HOME.into(),
        workspace: INSIDE_WORKSPACE.into(),
        bridge: None,
        upstream,
        model,
        setup,
        briefing: briefing(),
        patience: Patience::default(),
    }
}

fn told(arguments: &AgentTest, findings: &[Finding], probed: Option<&Probed>) -> Sheet {
    let is_good = findings.iter().all(|finding| finding.is_good);
    let mut sheet = Sheet::new().ending(if is_good { Exit::Completed } else { Exit::Failed });
    let took = probed.map(|probed| windlass_domain::millis(probed.took));
    if arguments.output.json {
        for Finding { name, is_good, detail, hint } in findings {
            let state = if *is_good { "fine" } else { "missing" };
            sheet.object(&json!({"type": "finding", "name": name, "state": state, "detail": detail, "hint": hint}));
        }
        let is = |name: &str| findings.iter().any(|finding| finding.name == name && finding.is_good);
        sheet.object(&json!({
            "type": "result", "agent": arguments.name, "passed": is_good, "found": is("found"),
            "version": probed.and_then(|probed| probed.version.as_ref()), "auth": auth(arguments, probed, is("auth")),
            "structured": is("structured"), "ms": took, "prompt": PROBE_PROMPT,
        }));
        return sheet;
    }
    let width = findings.iter().map(|finding| finding.name.len()).max().unwrap_or_default();
    for Finding { name, is_good, detail, hint } in findings {
        let (mark, style) = if *is_good { ("✔ ", Style::Good) } else { ("✘ ", Style::Bad) };
        sheet.print_whole(&Line::marked(Style::Plain, &format!("{name:<width$}  ")).dim(detail).behind(style, mark));
        if let Some(hint) = hint {
            sheet.print_whole(&Line::marked(Style::Dim, "    ").dim(hint));
        }
    }
    let verdict = match is_good {
        true => Line::new().add(Style::Good, "It works."),
        false => Line::new().add(Style::Bad, "It does not work: see above."),
    };
    let how = match (is_scripted(arguments), probed) {
        (true, Some(_)) => vec!["with a script for a model; --model NAME asks a real one".to_owned()],
        _ => Vec::new(),
    };
    let facts = took.map(duration).into_iter().chain(how);
    sheet.print_whole(&verdict.gap().facts(Style::Dim, facts));
    sheet
}

const fn is_scripted(arguments: &AgentTest) -> bool {
    arguments.model.is_none()
}

/// What is known of its being let in.
fn auth(arguments: &AgentTest, probed: Option<&Probed>, is_good: bool) -> Value {
    let Some(probed) = probed else { return Value::Null };
    match probed.model {
        _ if probed.is_refused() => "refused".into(),
        ModelSeen::NotAsked => "not_asked".into(),
        _ if !is_good => "failed".into(),
        _ if is_scripted(arguments) => "rehearsed".into(),
        _ => "ok".into(),
    }
}
