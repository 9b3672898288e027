//! `windlass agents`: everybody who may be given work: our own loop, and the programs of others with where they are and what they can do.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_adapters::{Adapter, Agent, Permissions, ask_version};
use windlass_domain::BoxFuture;

use super::agent_place::AgentPlace;
use crate::agents::{Found, OURS, find, missing};
use crate::arguments;
use crate::config::Config;
use crate::exit::Exit;
use crate::show::{Line, Screen, Style, print_json};

/// For `--version`.
const ANSWERING: Duration = Duration::from_secs(20);

/// A program of somebody else's.
struct Row {
    agent: &'static Agent,
    found: Option<Found>,
    version: Option<String>,
}

pub async fn agents(arguments: arguments::Agents) -> anyhow::Result<Exit> {
    let config = Config::look()?;
    let others = config.catalogue.others().iter().cloned();
    let found: Vec<_> = others.map(|one| (find(one.agent(), &config.agents), one)).collect();
    let asked = match arguments.no_versions || found.iter().all(|(found, _)| found.is_none()) {
        true => Ok(vec![None; found.len()]),
        false => versions(&config, &found).await,
    };
    let unasked = asked.as_ref().err().map(ToString::to_string);
    let asked = asked.unwrap_or_else(|_| vec![None; found.len()]);
    let row = |((found, adapter), version): ((Option<Found>, Arc<dyn Adapter>), _)| Row {
        agent: adapter.agent(),
        found,
        version,
    };
    let rows: Vec<Row> = found.into_iter().zip(asked).map(row).collect();
    match arguments.output.json {
        true => print_objects(&rows),
        false => print_lines(&rows, unasked),
    }
    Ok(Exit::Completed)
}

/// All at once, each in the sandbox that it would work in.
async fn versions(config: &Config, found: &[(Option<Found>, Arc<dyn Adapter>)]) -> anyhow::Result<Vec<Option<String>>> {
    let place = AgentPlace::open(config, found.iter().filter_map(|(found, _)| found.as_ref())).await?;
    let asked = found.iter().map(|(found, adapter)| {
        let sandbox = Arc::clone(&place.sandbox);
        let asked: BoxFuture<'_, _> = Box::pin(async move {
            let found = found.as_ref()?;
            ask_version(adapter.as_ref(), sandbox.as_ref(), &found.inside, ANSWERING).await
        });
        asked
    });
    let versions = futures_util::future::join_all(asked).await;
    place.close().await;
    Ok(versions)
}

fn print_objects(rows: &[Row]) {
    print_json(&json!({
        "type": "agent", "id": OURS, "name": "Windlass", "runner": "native", "found": true, "program": Value::Null,
        "version": env!("CARGO_PKG_VERSION"), "tried": [], "permissions": "asked", "mcp": true, "resume": true,
        "steer": true, "fork": false,
    }));
    for Row { agent, found, version } in rows {
        print_json(&json!({
            "type": "agent", "id": agent.id, "name": agent.display_name, "runner": "foreign", "found": found.is_some(),
            "program": found.as_ref().map(|found| &found.program), "version": version, "tried": agent.tried,
            "permissions": word(agent.permissions), "mcp": agent.takes_mcp, "resume": true,
            "steer": agent.can_be_steered, "fork": agent.can_fork,
        }));
    }
    let found = rows.iter().filter(|row| row.found.is_some()).count();
    print_json(&json!({"type": "result", "agents": rows.len() + 1, "found": found + 1}));
}

fn print_lines(rows: &[Row], unasked: Option<String>) {
    let width = rows.iter().map(|row| row.agent.id.len()).chain([OURS.len()]).max().unwrap_or_default();
    let mut screen = Screen::new();
    let mut print = |is_found: bool, id: &str, what: Line, can: Vec<String>| {
        let (style, mark) = if is_found { (Style::Good, "✔ ") } else { (Style::Dim, "· ") };
        screen.print_whole(&what.behind(Style::Plain, &format!("{id:<width$}  ")).behind(style, mark));
        screen.print_whole(&Line::new().facts(Style::Dim, can).behind(Style::Dim, &" ".repeat(width + 4)));
    };
    let ours = Line::new().plain("Windlass").gap().plain(env!("CARGO_PKG_VERSION")).gap().dim("this program");
    print(
        true,
        OURS,
        ours,
        ["asks before each call", "takes MCP", "resumes", "can be steered"].map(str::to_owned).into(),
    );
    for Row { agent, found, version } in rows {
        let what = Line::new().plain(agent.display_name);
        let what = match (found, version) {
            (Some(found), Some(version)) => what.gap().plain(version).gap().dim(shown(&found.program)),
            (Some(found), None) => what.gap().dim(shown(&found.program)),
            (None, _) => what.gap().dim(missing(agent).message),
        };
        print(found.is_some(), agent.id, what, can(agent));
    }
    if let Some(why) = unasked {
        screen.print_whole(&Line::new().dim(format!("No program was asked for its version: {why}")));
    }
    screen.print_whole(&Line::new().dim("To see whether one works: windlass agent test AGENT"));
}

fn shown(program: &Path) -> String {
    program.display().to_string()
}

fn can(agent: &Agent) -> Vec<String> {
    let asks = match agent.permissions {
        Permissions::Asked => "asks before each call",
        Permissions::Hooked => "asks before each call, by a hook of ours",
        Permissions::LaunchOnly => "asks nobody: you are asked before it starts",
    };
    let facts = [
        (true, asks.to_owned()),
        (agent.takes_mcp, "takes MCP".to_owned()),
        (true, "resumes".to_owned()),
        (agent.can_be_steered, "can be steered".to_owned()),
        (agent.can_fork, "forks".to_owned()),
        (true, format!("tried with {}", agent.tried.join(", "))),
    ];
    facts.into_iter().filter_map(|(is_so, fact)| is_so.then_some(fact)).collect()
}

const fn word(permissions: Permissions) -> &'static str {
    match permissions {
        Permissions::Asked => "asked",
        Permissions::Hooked => "hooked",
        Permissions::LaunchOnly => "launch_only",
    }
}
