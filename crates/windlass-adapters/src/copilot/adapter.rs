//! How GitHub Copilot CLI is started. Tried with 1.0.102.
//!
//! Its structured channel is `--headless --stdio`, the one its own SDK uses, rather than `--acp`: there errors of the model come with
//! their status (over ACP they are a turn that ended well, with the error as its last words), every event has an id that lasts, a denial carries
//! its reason, and usage comes call by call. It must be the native program: npm's `copilot` is a wrapper that signals do not reach.
//!
//! At its first run the program unpacks 235 MB below its home. A copy of that folder named `copilot-dist`, beside the `bin` that the
//! program lies in, is used instead where there is one; where there is none it says so on its standard error and unpacks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::talk::{Opening, Talk};
use crate::acp::possible;
use crate::{
    Adapter, Agent, CannotLaunch, Conversation, Dialect, Framing, Kept, LaunchSpec, Launching, Mode, Naming,
    Permissions, PlacedFile, Session,
};

static AGENT: Agent = Agent {
    id: "copilot",
    display_name: "GitHub Copilot CLI",
    program: "copilot",
    tried: &["1.0.102"],
    dialects: &[Dialect::Responses, Dialect::Messages, Dialect::Chat],
    permissions: Permissions::Asked,
    takes_mcp: true,
    can_be_steered: true,
    can_resume: true,
    can_fork: true,
};

#[derive(Debug, Clone, Copy)]
pub struct Copilot;

impl Adapter for Copilot {
    fn agent(&self) -> &'static Agent {
        &AGENT
    }

    fn launch(&self, launching: &Launching<'_>) -> Result<LaunchSpec, CannotLaunch> {
        possible(&AGENT, launching)?;
        let program = launching.program.display().to_string();
        let (arguments, files) = match launching.mode {
            Mode::Structured => (vec!["--headless".to_owned(), "--stdio".to_owned()], Vec::new()),
            Mode::Terminal => (on_screen(launching)?, seeds(launching)),
        };
        let argv = std::iter::once(program).chain(arguments).collect();
        Ok(LaunchSpec { argv, env: environment(launching), files, before: Vec::new(), framing: Framing::ContentLength })
    }

    /// Not the programs that it unpacks where it finds no `copilot-dist`, either: the agent may have changed them.
    fn kept(&self) -> Kept {
        Kept::Files(&[".copilot/session-state/*/events.jsonl", ".copilot/session-state/*/workspace.yaml"])
    }

    /// On its screen it trusts the folder, since otherwise a dialog asks whether it may, and with that all that a repository brings: settings, whose
    /// hooks answer its questions instead of who sits there, and programs that it starts.
    fn refused(&self, mode: Mode) -> &'static [&'static str] {
        match mode {
            Mode::Structured => &[],
            Mode::Terminal => &[
                ".github/copilot",
                ".github/hooks",
                ".github/extensions",
                ".github/mcp.json",
                ".github/lsp.json",
                ".mcp.json",
                ".claude/settings.json",
                ".claude/settings.local.json",
            ],
        }
    }

    fn converse(&self, launching: &Launching<'_>) -> Box<dyn Conversation> {
        Box::new(Talk::new(Opening {
            session: match launching.session {
                Session::New(id) => super::talk::From::New(id.to_owned()),
                Session::Resume(id) => super::talk::From::Old(id.to_owned()),
                Session::Fork(id) => super::talk::From::Fork(id.to_owned()),
            },
            configuration: configuration(launching),
            prompt: launching.prompt.to_owned(),
        }))
    }

    /// It wants to see it twice.
    fn interrupt_keys(&self) -> &'static [&'static str] {
        &["\u{1b}", "\u{1b}"]
    }

    fn naming(&self, _launching: &Launching<'_>) -> Naming {
        Naming::Given
    }

    /// It ends its first line with a full stop.
    fn version<'a>(&self, printed: &'a str) -> Option<&'a str> {
        printed
            .split_whitespace()
            .find(|word| word.starts_with(|first: char| first.is_ascii_digit()))
            .map(|word| word.trim_end_matches('.'))
    }
}

/// The provider is in the environment as well as in the session: offline, the program will not start without one.
fn environment(launching: &Launching<'_>) -> BTreeMap<String, String> {
    let provider = provider(launching);
    let mut environment = BTreeMap::from([
        ("COPILOT_OFFLINE", "true".to_owned()),
        ("COPILOT_AUTO_UPDATE", "false".to_owned()),
        ("COPILOT_MODEL", launching.model.to_owned()),
        ("COPILOT_PROVIDER_TYPE", provider.kind.to_owned()),
        ("COPILOT_PROVIDER_BASE_URL", provider.address),
        ("COPILOT_PROVIDER_API_KEY", launching.key.to_owned()),
    ]);
    if let Some(wire) = provider.wire {
        environment.insert("COPILOT_PROVIDER_WIRE_API", wire.to_owned());
    }
    if let Some(folder) = launching.program.parent().and_then(Path::parent) {
        environment.insert("COPILOT_CLI_DIST_DIR", folder.join("copilot-dist").display().to_string());
    }
    environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

struct Provider {
    kind: &'static str,
    wire: Option<&'static str>,
    address: String,
}

fn provider(launching: &Launching<'_>) -> Provider {
    let address = format!("{}/v1", launching.endpoint);
    match launching.dialect {
        Dialect::Chat => Provider { kind: "openai", wire: Some("completions"), address },
        Dialect::Responses => Provider { kind: "openai", wire: Some("responses"), address },
        Dialect::Messages => Provider { kind: "anthropic", wire: None, address: launching.endpoint.to_owned() },
    }
}

/// What `session.create` and `session.resume` are given. What a repository brings to be run unasked, hooks and servers, stays off.
fn configuration(launching: &Launching<'_>) -> Value {
    let provider = provider(launching);
    let mut configuration = json!({
        "clientName": "windlass",
        "workingDirectory": launching.workspace.display().to_string(),
        "model": launching.model,
        "provider": { "type": provider.kind, "baseUrl": provider.address, "apiKey": launching.key },
        "requestPermission": true,
        "streaming": true,
        "enableConfigDiscovery": false,
        "enableFileHooks": false,
        "envValueMode": "direct",
    });
    if let Some(wire) = provider.wire {
        configuration["provider"]["wireApi"] = json!(wire);
    }
    if !launching.instructions.is_empty() {
        configuration["systemMessage"] = json!({ "mode": "append", "content": launching.instructions });
    }
    if launching.mcp.is_some() {
        configuration["mcpServers"] = servers(launching);
    }
    configuration
}

fn servers(launching: &Launching<'_>) -> Value {
    let headers = json!({ "Authorization": format!("Bearer {}", launching.key) });
    json!({ "windlass": { "type": "http", "url": launching.mcp, "headers": headers, "tools": ["*"] } })
}

fn on_screen(launching: &Launching<'_>) -> Result<Vec<String>, CannotLaunch> {
    let session = match launching.session {
        Session::New(id) => format!("--session-id={id}"),
        Session::Resume(id) => format!("--resume={id}"),
        // Only its structured channel can.
        Session::Fork(_) => return Err(CannotLaunch::CannotFork { agent: AGENT.id }),
    };
    // Ours, which acts on nothing: to ask whoever sits there before each note would be noise.
    let ours = launching.mcp.map(|_| "--allow-tool=windlass".to_owned());
    // One word with its option, so that a prompt that begins with a dash is none.
    Ok([session].into_iter().chain(ours).chain([format!("--interactive={}", launching.prompt)]).collect())
}

/// What the screen would ask for at its first start, and what it would show. The folder is trusted, since otherwise a dialog asks
/// whether it is; what is done in it is still asked for, one by one.
fn seeds(launching: &Launching<'_>) -> Vec<PlacedFile> {
    let trusted = json!({ "trustedFolders": [launching.workspace.display().to_string()] });
    let settings =
        json!({ "autoUpdate": false, "banner": "never", "disableAllHooks": true, "updateTerminalTitle": false });
    let mut files =
        vec![file(".copilot/config.json", trusted.to_string()), file(".copilot/settings.json", settings.to_string())];
    if launching.mcp.is_some() {
        files.push(file(".copilot/mcp-config.json", json!({ "mcpServers": servers(launching) }).to_string()));
    }
    if !launching.instructions.is_empty() {
        files.push(file(".copilot/copilot-instructions.md", launching.instructions.to_owned()));
    }
    files
}

fn file(path: &str, content: String) -> PlacedFile {
    PlacedFile { path: PathBuf::from(path), content }
}
