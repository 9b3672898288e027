//! OpenCode, through its own server of the Agent Client Protocol (`opencode acp`). Tried with 1.18.33.
//!
//! Its configuration is given in the environment and is the last word. The project's own is not read at all: a repository could allow
//! itself everything there, or bring a plugin, which is code that nobody is asked about. Every tool is asked for but one: `task`
//! is denied, since the questions of sub-agents are not passed on over the protocol and the turn would hang for ever.
//!
//! What the protocol does not tell, and `opencode serve` would: the status of a failed model call (a refused key looks like any
//! other error), its retries (a server that is down is asked again for minutes, in silence), and sub-agents' questions.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::acp::{Talk, opening, possible};
use crate::{
    Adapter, Agent, CannotLaunch, Conversation, Dialect, Framing, LaunchSpec, Launching, Mode, Permissions, PlacedFile,
    Session,
};

static AGENT: Agent = Agent {
    id: "opencode",
    display_name: "OpenCode",
    program: "opencode",
    tried: &["1.18.33"],
    dialects: &[Dialect::Messages, Dialect::Responses, Dialect::Chat],
    permissions: Permissions::Asked,
    takes_mcp: true,
    can_be_steered: true,
    can_fork: true,
};

/// Our name among its providers.
const PROVIDER: &str = "windlass";

/// Where it finds what it is told besides its task, in its home.
const INSTRUCTIONS: &str = ".config/opencode/windlass.md";

/// Nothing is fetched, nothing is sent but to the model, and nothing of the project's is believed.
const SWITCHES: [(&str, &str); 8] = [
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ("OPENCODE_DISABLE_PROJECT_CONFIG", "1"),
    ("OPENCODE_DISABLE_TERMINAL_TITLE", "1"),
    ("OPENCODE_PURE", "1"),
    ("npm_config_offline", "true"),
];

#[derive(Debug, Clone, Copy)]
pub struct OpenCode;

impl Adapter for OpenCode {
    fn agent(&self) -> &'static Agent {
        &AGENT
    }

    fn launch(&self, launching: &Launching<'_>) -> Result<LaunchSpec, CannotLaunch> {
        possible(&AGENT, launching)?;
        let mut argv = vec![launching.program.display().to_string()];
        match launching.mode {
            Mode::Structured => argv.push("acp".to_owned()),
            Mode::Terminal => argv.extend(on_screen(launching)),
        }
        let mut env: std::collections::BTreeMap<String, String> =
            SWITCHES.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        env.insert("OPENCODE_CONFIG_CONTENT".to_owned(), configuration(launching).to_string());
        let instructions = PlacedFile { path: PathBuf::from(INSTRUCTIONS), content: launching.instructions.to_owned() };
        let files = if launching.instructions.is_empty() { Vec::new() } else { vec![instructions] };
        Ok(LaunchSpec { argv, env, files, framing: Framing::Lines })
    }

    fn swept(&self) -> &'static [&'static str] {
        &[".config/opencode", ".opencode"]
    }

    fn refused(&self) -> &'static [&'static str] {
        &[".opencode/plugin", ".opencode/plugins", ".opencode/tool", ".opencode/tools"]
    }

    fn converse(&self, launching: &Launching<'_>) -> Box<dyn Conversation> {
        Box::new(Talk::new(opening(&AGENT, launching, launching.prompt.to_owned())))
    }
}

fn on_screen(launching: &Launching<'_>) -> Vec<String> {
    let mut arguments = match launching.session {
        Session::New(_) => Vec::new(),
        Session::Resume(id) => vec!["--session".to_owned(), id.to_owned()],
        Session::Fork(id) => vec!["--session".to_owned(), id.to_owned(), "--fork".to_owned()],
    };
    // One word with its option, so that a prompt that begins with a dash is none.
    arguments.push(format!("--prompt={}", launching.prompt));
    arguments
}

fn configuration(launching: &Launching<'_>) -> Value {
    let model = format!("{PROVIDER}/{}", launching.model);
    let mut configuration = json!({
        "model": model,
        "small_model": model,
        "share": "disabled",
        "autoupdate": false,
        "enabled_providers": [PROVIDER],
        "permission": { "*": "ask", "task": "deny" },
        "provider": { PROVIDER: provider(launching) },
    });
    if !launching.instructions.is_empty() {
        configuration["instructions"] = json!([launching.home.join(INSTRUCTIONS).display().to_string()]);
    }
    // Over the structured channel the protocol brings the server.
    if let (Mode::Terminal, Some(url)) = (launching.mode, launching.mcp) {
        let headers = json!({ "Authorization": format!("Bearer {}", launching.key) });
        configuration["mcp"] = json!({ "windlass": { "type": "remote", "url": url, "headers": headers, "oauth": false, "enabled": true } });
    }
    configuration
}

fn provider(launching: &Launching<'_>) -> Value {
    // Each of these comes with the program.
    let package = match launching.dialect {
        Dialect::Chat => "@ai-sdk/openai-compatible",
        Dialect::Responses => "@ai-sdk/openai",
        Dialect::Messages => "@ai-sdk/anthropic",
    };
    json!({
        "npm": package,
        "name": "Windlass",
        "options": { "baseURL": format!("{}/v1", launching.endpoint), "apiKey": launching.key },
        // It compacts by the context that is said here; how much there is, our proxy knows and the program does not.
        "models": { launching.model: {
            "name": launching.model,
            "tool_call": true,
            "limit": { "context": 200_000, "output": 8_000 },
        } },
    })
}
