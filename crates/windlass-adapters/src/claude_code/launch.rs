//! How Claude Code is started: its switches, and what lies in its home.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::json;

use super::adapter::AGENT;
use crate::{CannotLaunch, Dialect, Framing, LaunchSpec, Launching, Mode, PlacedFile, Session};

/// Its tools that do something for a task. Those that start work behind the conversation's back (schedules, monitors, workflows),
/// that ask who is not there, or that want the network are left out.
const TOOLS: &str = "Task,Bash,Edit,Glob,Grep,NotebookEdit,Read,TodoWrite,Write";

const MCP_FILE: &str = ".claude/windlass-mcp.json";

pub fn spec(launching: &Launching<'_>) -> Result<LaunchSpec, CannotLaunch> {
    if launching.dialect != Dialect::Messages {
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
    if launching.mode == Mode::Structured {
        add(&["--print", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]);
        add(&["--include-partial-messages", "--permission-prompt-tool", "stdio"]);
    }
    add(&["--permission-mode", "default", "--settings", &settings(launching)]);
    add(&["--setting-sources", "user", "--strict-mcp-config", "--tools", TOOLS]);
    if launching.mcp.is_some() {
        add(&["--mcp-config", &launching.home.join(MCP_FILE).display().to_string()]);
    }
    if !launching.instructions.is_empty() {
        add(&["--append-system-prompt", launching.instructions]);
    }
    match launching.session {
        Session::New(id) => add(&["--session-id", id]),
        Session::Resume(id) => add(&["--resume", id]),
        Session::Fork(id) => add(&["--resume", id, "--fork-session"]),
    }
    if launching.mode == Mode::Terminal && !launching.prompt.is_empty() {
        add(&["--", launching.prompt]);
    }
    argv
}

/// On the command line, where the agent cannot change them: those in its home are watched for changes while it runs.
fn settings(launching: &Launching<'_>) -> String {
    let ask = ["Bash", "Edit", "Write", "NotebookEdit", "WebFetch", "WebSearch", "Monitor"];
    // Ours, which acts on nothing: to ask before each note would be noise.
    let allow: &[&str] = if launching.mcp.is_some() { &["mcp__windlass"] } else { &[] };
    json!({ "permissions": { "ask": ask, "allow": allow }, "disableAllHooks": true }).to_string()
}

fn env(launching: &Launching<'_>) -> BTreeMap<String, String> {
    let model = launching.model;
    [
        ("ANTHROPIC_BASE_URL", launching.endpoint),
        ("ANTHROPIC_API_KEY", launching.key),
        ("ANTHROPIC_MODEL", model),
        // For titles and sub-agents it would otherwise ask for models that may not be there.
        ("ANTHROPIC_DEFAULT_HAIKU_MODEL", model),
        ("CLAUDE_CODE_SUBAGENT_MODEL", model),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1"),
        ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
        // A command begins where its question said that it would.
        ("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        // Ten by default, over minutes; who is behind the endpoint tries again by itself.
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
        // It would hide our tools behind a search.
        ("ENABLE_TOOL_SEARCH", "false"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect()
}

fn files(launching: &Launching<'_>) -> Vec<PlacedFile> {
    let workspace = launching.workspace.display().to_string();
    let mut files = vec![
        // Anew at each start: what an agent left there starts nothing.
        file(".claude/settings.json", "{}".to_owned()),
        file(".claude/CLAUDE.md", format!("@{workspace}/CLAUDE.md\n")),
    ];
    if let Some(url) = launching.mcp {
        let headers = json!({ "Authorization": format!("Bearer {}", launching.key) });
        let servers = json!({ "mcpServers": { "windlass": { "type": "http", "url": url, "headers": headers } } });
        files.push(file(MCP_FILE, servers.to_string()));
    }
    if launching.mode == Mode::Terminal {
        let seed = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": { "approved": [last_twenty(launching.key)] },
            "projects": { workspace: { "hasTrustDialogAccepted": true } },
        });
        files.push(file(".claude.json", seed.to_string()));
    }
    files
}

/// How it remembers a key that was consented to.
fn last_twenty(key: &str) -> String {
    let skipped = key.chars().count().saturating_sub(20);
    key.chars().skip(skipped).collect()
}

fn file(path: &str, content: String) -> PlacedFile {
    PlacedFile { path: PathBuf::from(path), content }
}
