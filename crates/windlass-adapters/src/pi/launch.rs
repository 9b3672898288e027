//! How Pi is started: its switches, and what lies in its home.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::adapter::AGENT;
use crate::{CannotLaunch, Dialect, Framing, LaunchSpec, Launching, Mode, PlacedFile, Session};

/// The provider that it is given, and the only one.
const PROVIDER: &str = "windlass";

const FOLDER: &str = ".pi/agent";
const GATE: &str = ".pi/agent/windlass-gate.ts";

pub fn spec(launching: &Launching<'_>) -> Result<LaunchSpec, CannotLaunch> {
    if launching.mcp.is_some() {
        return Err(CannotLaunch::NoMcp { agent: AGENT.display_name });
    }
    Ok(LaunchSpec {
        argv: argv(launching),
        env: env(launching.home),
        files: files(launching),
        before: Vec::new(),
        framing: Framing::Lines,
    })
}

fn argv(launching: &Launching<'_>) -> Vec<String> {
    let mut argv = vec![launching.program.display().to_string()];
    let mut add = |words: &[&str]| argv.extend(words.iter().map(|word| (*word).to_owned()));
    if launching.mode == Mode::Structured {
        add(&["--mode", "rpc"]);
    }
    add(&["--provider", PROVIDER, "--model", launching.model]);
    // What lies in the workspace is not trusted, and of the home nothing but the hook is loaded.
    add(&["--no-approve", "--no-extensions", "--extension", &launching.home.join(GATE).display().to_string()]);
    if !launching.instructions.is_empty() {
        add(&["--append-system-prompt", launching.instructions]);
    }
    match launching.session {
        Session::New(id) => add(&["--session-id", id]),
        Session::Resume(id) => add(&["--session", id]),
        Session::Fork(id) => add(&["--fork", id]),
    }
    if launching.mode == Mode::Terminal && !launching.prompt.is_empty() {
        add(&["--", launching.prompt]);
    }
    argv
}

fn env(home: &Path) -> BTreeMap<String, String> {
    [
        ("PI_CODING_AGENT_DIR", home.join(FOLDER).display().to_string()),
        ("PI_OFFLINE", "1".to_owned()),
        ("PI_TELEMETRY", "0".to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

fn files(launching: &Launching<'_>) -> Vec<PlacedFile> {
    let (api, base) = match launching.dialect {
        Dialect::Chat => ("openai-completions", format!("{}/v1", launching.endpoint)),
        Dialect::Responses => ("openai-responses", format!("{}/v1", launching.endpoint)),
        Dialect::Messages => ("anthropic-messages", launching.endpoint.to_owned()),
    };
    let (name, window, answer) = (launching.model, launching.window, launching.longest_answer);
    let model = json!({ "id": name, "name": name, "contextWindow": window, "maxTokens": answer });
    let provider = json!({ "baseUrl": base, "api": api, "apiKey": launching.key, "models": [model] });
    // Three tries by default; who is behind the endpoint tries again by itself.
    let settings = json!({ "retry": { "maxRetries": 1 }, "quietStartup": true });
    vec![
        file(GATE, include_str!("gate.ts").to_owned()),
        file(&format!("{FOLDER}/models.json"), json!({ "providers": { PROVIDER: provider } }).to_string()),
        file(&format!("{FOLDER}/settings.json"), settings.to_string()),
    ]
}

fn file(path: &str, content: String) -> PlacedFile {
    PlacedFile { path: PathBuf::from(path), content }
}
