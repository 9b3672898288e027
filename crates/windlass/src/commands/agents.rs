//! `windlass agents`: everybody who may be given work: our own loop, and the programs of others with where they are and what they can do.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_adapters::{Adapter, Agent, Permissions, ask_version};
use windlass_domain::BoxFuture;

use super::agent_place::AgentPlace;
use crate::agents::{Found, OURS, find, missing, versions};
use crate::arguments;
use crate::config::Config;
use crate::show::{Line, Sheet, Style};

/// For `--version`.
const ANSWERING: Duration = Duration::from_secs(20);

/// A program of somebody else's.
struct Row {
    agent: &'static Agent,
    found: Option<Found>,
    version: Option<String>,
}

pub async fn agents(config: &Config, arguments: &arguments::Agents) -> anyhow::Result<Sheet> {
    let others = config.catalogue.others().iter().cloned();
    let found: Vec<_> = others.map(|one| (find(one.agent(), &config.agents), one)).collect();
    let asked = match arguments.no_versions || found.iter().all(|(found, _)| found.is_none()) {
        true => Ok(vec![None; found.len()]),
        false => ask_versions(config, &found).await,
    };
    let unasked = asked.as_ref().err().map(ToString::to_string);
    let asked = asked.unwrap_or_else(|_| vec![None; found.len()]);
    let row = |((found, adapter), version): ((Option<Found>, Arc<dyn Adapter>), _)| Row {
        agent: adapter.agent(),
        found,
        version,
    };
    let rows: Vec<Row> = found.into_iter().zip(asked).map(row).collect();
    let mut sheet = Sheet::new();
    match arguments.output.json {
        true => {
            objects(&rows).iter().for_each(|agent| sheet.object(agent));
            let found = rows.iter().filter(|row| row.found.is_some()).count();
            sheet.object(&json!({"type": "result", "agents": rows.len() + 1, "found": found + 1}));
        }
        false => in_lines(&rows, unasked, &mut sheet),
    }
    Ok(sheet)
}

/// Everybody, without asking any program which it is.
pub(super) fn described(config: &Config) -> Vec<Value> {
    let row = |adapter: &Arc<dyn Adapter>| {
        let agent = adapter.agent();
        Row { agent, found: find(agent, &config.agents), version: None }
    };
    objects(&config.catalogue.others().iter().map(row).collect::<Vec<_>>())
}

/// All that are not known at once, each in the sandbox that it would work in.
async fn ask_versions(
    config: &Config,
    found: &[(Option<Found>, Arc<dyn Adapter>)],
) -> anyhow::Result<Vec<Option<String>>> {
    let seen = versions(&config.data_dir);
    let is_known = |found: &Found| seen.known(&found.known_as()).is_some();
    let place = match found.iter().filter_map(|(found, _)| found.as_ref()).all(is_known) {
        true => None,
        false => Some(AgentPlace::open(config, found.iter().filter_map(|(found, _)| found.as_ref())).await?),
    };
    let asked = found.iter().map(|(found, adapter)| {
        let (place, seen) = (place.as_ref(), &seen);
        let asked: BoxFuture<'_, _> = Box::pin(async move {
            let found = found.as_ref()?;
            let known_as = found.known_as();
            if let Some(known) = seen.known(&known_as) {
                return Some(known);
            }
            let said = ask_version(adapter.as_ref(), place?.sandbox.as_ref(), &found.inside, ANSWERING).await?;
            Some(seen.learn(&known_as, said))
        });
        asked
    });
    let versions = futures_util::future::join_all(asked).await;
    if let Some(place) = place {
        place.close().await;
    }
    Ok(versions)
}

fn objects(rows: &[Row]) -> Vec<Value> {
    let ours = json!({
        "type": "agent", "id": OURS, "name": "Windlass", "runner": "native", "found": true, "program": Value::Null,
        "version": env!("CARGO_PKG_VERSION"), "tried": [], "permissions": "asked", "mcp": true, "resume": true,
        "steer": true, "fork": true,
    });
    let others = rows.iter().map(|Row { agent, found, version }| {
        json!({
            "type": "agent", "id": agent.id, "name": agent.display_name, "runner": "foreign", "found": found.is_some(),
            "program": found.as_ref().map(|found| &found.program), "version": version, "tried": agent.tried,
            "permissions": word(agent.permissions), "mcp": agent.takes_mcp, "resume": agent.can_resume,
            "steer": agent.can_be_steered, "fork": agent.can_fork,
        })
    });
    std::iter::once(ours).chain(others).collect()
}

fn in_lines(rows: &[Row], unasked: Option<String>, sheet: &mut Sheet) {
    let width = rows.iter().map(|row| row.agent.id.len()).chain([OURS.len()]).max().unwrap_or_default();
    let mut print = |is_found: bool, id: &str, what: Line, can: Vec<String>| {
        let (style, mark) = if is_found { (Style::Good, "✔ ") } else { (Style::Dim, "· ") };
        sheet.print_whole(&what.behind(Style::Plain, &format!("{id:<width$}  ")).behind(style, mark));
        sheet.print_whole(&Line::new().facts(Style::Dim, can).behind(Style::Dim, &" ".repeat(width + 4)));
    };
    let ours = Line::new().plain("Windlass").gap().plain(env!("CARGO_PKG_VERSION")).gap().dim("this program");
    print(
        true,
        OURS,
        ours,
        ["asks before it acts", "takes MCP", "resumes", "can be steered", "forks"].map(str::to_owned).into(),
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
        sheet.print_whole(&Line::new().dim(format!("No program was asked for its version: {why}")));
    }
    sheet.print_whole(&Line::new().dim("To see whether one works: windlass agent test AGENT"));
}

fn shown(program: &Path) -> String {
    program.display().to_string()
}

fn can(agent: &Agent) -> Vec<String> {
    let asks = match agent.permissions {
        Permissions::Asked => "asks before it acts",
        Permissions::Hooked => "asks before it acts, by a hook of ours",
    };
    let facts = [
        (true, asks.to_owned()),
        (agent.takes_mcp, "takes MCP".to_owned()),
        (true, if agent.can_resume { "resumes" } else { "resumes if it says that it can" }.to_owned()),
        (agent.can_be_steered, "can be steered".to_owned()),
        (agent.can_fork, "forks".to_owned()),
        (!agent.tried.is_empty(), format!("tried with {}", agent.tried.join(", "))),
    ];
    facts.into_iter().filter_map(|(is_so, fact)| is_so.then_some(fact)).collect()
}

const fn word(permissions: Permissions) -> &'static str {
    match permissions {
        Permissions::Asked => "asked",
        Permissions::Hooked => "hooked",
    }
}
