//! How Codex is started: its switches, and what lies in its home. `untrusted` is no policy that its settings take any more; but in a folder that is
//! not trusted it is the one that holds: it asks about every command, reads included, and about every change of files. So it is on its screen, too,
//! which opens with a question for that. Its own sandbox is off: it cannot be made inside of ours, and each command would fail there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::json;

use super::adapter::AGENT;
use crate::{CannotLaunch, Dialect, Framing, LaunchSpec, Launching, Look, Mode, PlacedFile, Session};

/// The environment variable with the key, as the configuration names it.
const KEY: &str = "WINDLASS_KEY";

/// The letters of a conversation's name.
const UUID: usize = 36;

/// What would call home, work behind the conversation's back, or wait for ever. Without terminals of its own, because it does not ask
/// before it types into one: a shell that was allowed once would take any command after.
const DISABLED: [&str; 7] =
    ["plugins", "apps", "hooks", "goals", "multi_agent", "unified_exec_tty", "unbounded_connection_retries"];

pub fn spec(launching: &Launching<'_>) -> Result<LaunchSpec, CannotLaunch> {
    if launching.dialect != Dialect::Responses {
        return Err(CannotLaunch::NoSuchDialect { agent: AGENT.display_name });
    }
    Ok(LaunchSpec {
        argv: argv(launching),
        env: env(launching),
        files: files(launching),
        before: Vec::new(),
        framing: Framing::Lines,
    })
}

fn argv(launching: &Launching<'_>) -> Vec<String> {
    let mut argv = vec![launching.program.display().to_string()];
    let mut add = |words: &[&str]| argv.extend(words.iter().map(|word| (*word).to_owned()));
    match (launching.mode, launching.session) {
        (Mode::Structured, _) => add(&["app-server"]),
        (Mode::Terminal, Session::New(_)) => {}
        (Mode::Terminal, Session::Resume(_)) => add(&["resume"]),
        (Mode::Terminal, Session::Fork(_)) => add(&["fork"]),
    }
    for feature in DISABLED {
        add(&["--disable", feature]);
    }
    for setting in settings(launching) {
        add(&["--config", &setting]);
    }
    if launching.mode == Mode::Terminal {
        add(&["--no-alt-screen", "--no-daemon", "--"]);
        if let Session::Resume(id) | Session::Fork(id) = launching.session {
            add(&[id]);
        }
        if !launching.prompt.is_empty() {
            add(&[launching.prompt]);
        }
    }
    argv
}

/// Each conversation is a file, named after the time that it was begun at and its own name.
pub fn look(launching: &Launching<'_>) -> Look {
    let folder = launching.home.join(".codex/sessions").display().to_string();
    let argv = ["find", &folder, "-name", "rollout-*.jsonl"].map(str::to_owned).into();
    Look { argv, env: BTreeMap::new(), read: newest }
}

fn newest(printed: &str) -> Option<String> {
    let files =
        printed.lines().filter_map(|line| line.rsplit('/').next()?.strip_prefix("rollout-")?.strip_suffix(".jsonl"));
    let named = files.filter_map(|file| Some((file, file.get(file.len().checked_sub(UUID)?..)?)));
    let named = named.filter(|(_, name)| name.chars().all(|letter| letter.is_ascii_hexdigit() || letter == '-'));
    named.max().map(|(_, name)| name.to_owned())
}

/// On the command line, which outranks both configurations that an agent could write to, its own and the workspace's.
fn settings(launching: &Launching<'_>) -> Vec<String> {
    let endpoint = text(&format!("{}/v1", launching.endpoint));
    let mut settings = vec![
        format!("model={}", text(launching.model)),
        "model_provider=\"windlass\"".to_owned(),
        format!(
            "model_providers.windlass={{name=\"windlass\",base_url={endpoint},env_key=\"{KEY}\",\
             wire_api=\"responses\",request_max_retries=1,stream_max_retries=1}}"
        ),
        "analytics.enabled=false".to_owned(),
        "web_search=\"disabled\"".to_owned(),
        "check_for_update_on_startup=false".to_owned(),
    ];
    if let Some(url) = launching.mcp {
        settings.push(format!(
            "mcp_servers.windlass={{url={},bearer_token_env_var=\"{KEY}\",required=true,\
             default_tools_approval_mode=\"approve\"}}",
            text(url)
        ));
    }
    if launching.mode == Mode::Terminal {
        // Here as well as in its home, where a command could change it.
        settings.push(format!("projects={{{}={{trust_level=\"untrusted\"}}}}", workspace(launching)));
        settings.push("sandbox_mode=\"danger-full-access\"".to_owned());
        if !launching.instructions.is_empty() {
            settings.push(format!("developer_instructions={}", text(launching.instructions)));
        }
    }
    settings
}

/// Its name among the folders that are trusted or not.
fn workspace(launching: &Launching<'_>) -> String {
    text(&launching.workspace.display().to_string())
}

/// A TOML text. JSON's escapes are TOML's too, but for the one character that JSON leaves as it is.
fn text(value: &str) -> String {
    json!(value).to_string().replace('\u{7f}', "\\u007f")
}

fn env(launching: &Launching<'_>) -> BTreeMap<String, String> {
    let home = launching.home.join(".codex").display().to_string();
    BTreeMap::from([(KEY.to_owned(), launching.key.to_owned()), ("CODEX_HOME".to_owned(), home)])
}

fn files(launching: &Launching<'_>) -> Vec<PlacedFile> {
    let content = format!("[projects.{}]\ntrust_level = \"untrusted\"\n", workspace(launching));
    vec![PlacedFile { path: PathBuf::from(".codex/config.toml"), content }]
}
