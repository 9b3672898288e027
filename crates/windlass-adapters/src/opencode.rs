//! OpenCode, through its own server of the Agent Client Protocol (`opencode acp`). Tried with 1.18.33.
//!
//! Its configuration is given in the environment and is the last word. The project's own is not read at all: a repository could allow
//! itself everything there, or bring a plugin, which is code that nobody is asked about. Every tool is asked for but one: `task`
//! is denied, since the questions of sub-agents are not passed on over the protocol and the turn would hang for ever.
//!
//! What the protocol does not tell, and `opencode serve` would: the status of a failed model call (a refused key looks like any
//! other error), its retries (a server that is down is asked again for minutes, in silence), and sub-agents' questions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::acp::{Asks, Opening, Talk, opening, possible};
use crate::{
    Adapter, Agent, CannotLaunch, Conversation, Dialect, Forgetting, Framing, Kept, LaunchSpec, Launching, Look, Mode,
    Naming, Permissions, PlacedFile, Session,
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
    can_resume: true,
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
        let env = environment(launching);
        let instructions = PlacedFile { path: PathBuf::from(INSTRUCTIONS), content: launching.instructions.to_owned() };
        let files = if launching.instructions.is_empty() { Vec::new() } else { vec![instructions] };
        Ok(LaunchSpec { argv, env, files, before: forgetting(launching), framing: Framing::Lines })
    }

    fn naming(&self, launching: &Launching<'_>) -> Naming {
        let program = launching.program.display().to_string();
        let list = ["session", "list", "--format", "json", "--max-count", "1"].map(str::to_owned);
        let argv = std::iter::once(program).chain(list).collect();
        Naming::Kept(Look { argv, env: environment(launching), read: listed })
    }

    fn awaits_prompt(&self, launching: &Launching<'_>) -> Option<&'static str> {
        (!matches!(launching.session, Session::New(_))).then_some("ctrl+p commands")
    }

    /// It wants to see it twice.
    fn interrupt_keys(&self) -> &'static [&'static str] {
        &["\u{1b}", "\u{1b}"]
    }

    /// Not the repositories of its snapshots, whose hooks and settings git obeys.
    fn kept(&self) -> Kept {
        Kept::Files(&[
            ".local/share/opencode/opencode.db",
            ".local/share/opencode/opencode.db-wal",
            ".local/share/opencode/tool-output/*",
        ])
    }

    fn refused(&self, _mode: Mode) -> &'static [&'static str] {
        &[".opencode/plugin", ".opencode/plugins", ".opencode/tool", ".opencode/tools"]
    }

    fn converse(&self, launching: &Launching<'_>) -> Box<dyn Conversation> {
        let opening = opening(&AGENT, launching, launching.prompt.to_owned());
        Box::new(Talk::new(Opening { asks: Asks::Early, ..opening }))
    }
}

fn environment(launching: &Launching<'_>) -> BTreeMap<String, String> {
    let switches = SWITCHES.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let configuration = ("OPENCODE_CONFIG_CONTENT".to_owned(), configuration(launching).to_string());
    switches.chain([configuration]).collect()
}

/// Leave that was given for good is kept with the conversation, in a database that the agent can write to. A trigger could bring it back, and a
/// view hide it: neither is the program's own.
fn forgetting(launching: &Launching<'_>) -> Vec<Forgetting> {
    const FOR_THE_PROJECT: &str = "DELETE FROM permission";
    const FOR_THE_SESSION: &str = "UPDATE session SET permission = NULL";
    const LEFT: &str = "SELECT (SELECT count(*) FROM permission) + (SELECT count(*) FROM session WHERE permission IS NOT NULL) \
         + (SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')) AS kept";
    if matches!(launching.session, Session::New(_)) {
        return Vec::new();
    }
    let query = |(query, prints): (&str, &'static str)| Forgetting {
        argv: [&launching.program.display().to_string(), "db", "--format", "json", query].map(str::to_owned).into(),
        env: environment(launching),
        prints,
    };
    [(FOR_THE_PROJECT, "[]"), (FOR_THE_SESSION, "[]"), (LEFT, "[{\"kept\":0}]")].map(query).into()
}

/// The newest comes first.
fn listed(printed: &str) -> Option<String> {
    let sessions: Value = serde_json::from_str(printed).ok()?;
    let name = sessions.pointer("/0/id")?.as_str()?;
    let is_one =
        name.strip_prefix("ses_").is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_alphanumeric()));
    is_one.then(|| name.to_owned())
}

/// Of an old conversation it shows the end, and takes no message from the command line.
fn on_screen(launching: &Launching<'_>) -> Vec<String> {
    match launching.session {
        // One word with its option, so that a prompt that begins with a dash is none.
        Session::New(_) => vec![format!("--prompt={}", launching.prompt)],
        Session::Resume(id) => vec!["--session".to_owned(), id.to_owned()],
        Session::Fork(id) => vec!["--session".to_owned(), id.to_owned(), "--fork".to_owned()],
    }
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
    // Over the structured channel the protocol brings the server, and what is asked is answered by nobody but us.
    if let (Mode::Terminal, Some(url)) = (launching.mode, launching.mcp) {
        // Ours, which acts on nothing: to ask whoever sits there before each note would be noise.
        configuration["permission"]["windlass_*"] = json!("allow");
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
        // It compacts by what is said here.
        "models": { launching.model: {
            "name": launching.model,
            "tool_call": true,
            "limit": { "context": launching.window, "output": launching.longest_answer },
        } },
    })
}
