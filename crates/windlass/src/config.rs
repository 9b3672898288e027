//! The operator's configuration: environment variables (seed 000 §17.1), and `windlass.toml`, `models.toml`, `gates.yaml` and
//! `risk.toml` in the data directory. Nothing is ever read from the workspace: a repository does not configure what runs in it.

#![expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]

use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use serde::Deserialize;
use windlass_domain::execution::DoomLoopConfig;
use windlass_domain::{Delegation, Secret};
use windlass_llm::{Adjustment, Models};
use windlass_telemetry::Collector;

use crate::agents::{AgentsConfig, Catalogue, Places};
use crate::arguments::SandboxName;
use crate::browser::BrowserConfig;
use crate::compaction::CompactionSettings;
use crate::container::{ContainerConfig, overridden};
use crate::delegation::SubagentConfig;
use crate::equipment::Wire;
use crate::exit::WrongUse;
use crate::law::Law;
use crate::limits::LimitsConfig;
use crate::mcp::McpConfig;
use crate::network::{AllowedHosts, NetworkChoice};
use crate::observing::{LogChoice, LogFormat, TelemetryConfig};
use crate::patterns::PatternsConfig;
use crate::place::overlap;
use crate::secrets::secrets;
use crate::services::{EmbeddingsConfig, Keys, WebConfig, WebSearchConfig};
use crate::skills::SkillsConfig;
use crate::text_file::read_optional_text;

pub const DEFAULT_MODEL: &str = "gpt-4o";
const DEFAULT_ANTHROPIC_BASE: &str = "https://api.anthropic.com";

/// What stands in `windlass.toml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileConfig {
    pub sandbox: SandboxConfig,
    pub workspace: WorkspaceConfig,
    pub approvals: ApprovalsConfig,
    pub compaction: CompactionSettings,
    pub doom_loop: DoomLoopConfig,
    pub openai: OpenAiConfig,
    pub models: ModelsConfig,
    pub embeddings: Option<EmbeddingsConfig>,
    pub skills: SkillsConfig,
    pub patterns: PatternsConfig,
    pub web: WebConfig,
    pub web_search: Option<WebSearchConfig>,
    pub subagents: SubagentConfig,
    pub telemetry: TelemetryConfig,
    pub mcp: McpConfig,
    pub browser: BrowserConfig,
    pub agents: AgentsConfig,
}

/// Who asks which model, and what is wanted of models, by name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ModelsConfig {
    /// Unless a command names one.
    pub proxy: Option<String>,
    pub planner: Option<String>,
    pub executor: Option<String>,
    #[serde(flatten)]
    pub by_name: BTreeMap<String, Adjustment>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxConfig {
    /// Folders that every sandbox may read, at the same path: toolchains and caches.
    pub readonly_mounts: Vec<PathBuf>,
    /// Variables that every sandbox is given.
    pub env: BTreeMap<String, String>,
    pub limits: LimitsConfig,
    pub network: NetworkChoice,
    pub allowed_hosts: AllowedHosts,
    /// What confines commands, unless a run says otherwise.
    pub provider: Option<SandboxName>,
    pub docker: ContainerConfig,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceConfig {
    /// Ignored paths that checks need, such as `node_modules`.
    pub carry: Vec<String>,
}

/// Of the server at `LITELLM_API_BASE`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpenAiConfig {
    pub api: OpenAiApi,
}

/// Which of OpenAI's two interfaces is spoken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenAiApi {
    #[default]
    Chat,
    Responses,
}

impl OpenAiApi {
    pub const fn wire(self) -> Wire {
        match self {
            Self::Chat => Wire::OpenAi,
            Self::Responses => Wire::Responses,
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ApprovalsConfig {
    /// How long a card waits for its answer, and an answer for its use.
    pub lifetime_seconds: Option<u64>,
}

impl ApprovalsConfig {
    pub fn applied_to(&self, law: windlass_engine::Law) -> windlass_engine::Law {
        let card_lifetime = self.lifetime_seconds.map_or(law.card_lifetime, Duration::from_secs);
        windlass_engine::Law { card_lifetime, ..law }
    }
}

#[derive(Clone)]
pub struct Config {
    pub data_dir: PathBuf,
    /// Who answers, as the audit names them.
    pub user: String,
    pub home: Option<PathBuf>,
    /// Where programs keep what their user configured.
    pub config_home: Option<PathBuf>,
    /// Whoever may be given work, and where programs of others are looked for.
    pub catalogue: Catalogue,
    pub agents: Places,
    pub file: FileConfig,
    pub models: Models,
    /// The gates and risks.
    pub law: Law,
    pub openai: Door,
    pub openai_api: OpenAiApi,
    pub anthropic: Door,
    /// Of the services that the file names.
    pub keys: Keys,
    /// What must never be written anywhere.
    pub secrets: Vec<Secret>,
    pub max_iterations: Option<u32>,
    pub delegation: Delegation,
    pub timeout_seconds: Option<u64>,
    pub tool_output_max_tokens: Option<usize>,
    /// The environment's word before the file's.
    pub compaction: CompactionSettings,
    /// None: as each command does by default.
    pub log: Option<LogChoice>,
    pub log_format: LogFormat,
    /// Who is sent spans and metrics.
    pub collector: Option<Collector>,
}

/// The environment's word before the file's.
fn places(said: &AgentsConfig) -> Places {
    let path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    Places { programs: said.programs.clone(), folder: named("WINDLASS_AGENTS").or_else(|| said.folder.clone()), path }
}

/// How one provider is reached.
#[derive(Clone)]
pub struct Door {
    /// Empty where there is none.
    pub base_url: String,
    pub key: Option<Secret>,
    pub model: Option<String>,
    /// Whether it is to be used, as far as the operator said.
    pub configured: bool,
}

impl Door {
    /// For a person, without the query, where some put a key.
    pub fn address(&self) -> &str {
        self.base_url.split('?').next().unwrap_or_default()
    }
}

/// What the operator said, and what is wrong with it; whatever is wrong is as if it had not been said.
pub struct Reading {
    pub config: Config,
    pub problems: Vec<WrongUse>,
}

impl Config {
    /// For commands that work: a mistake stops them.
    pub fn load() -> anyhow::Result<Self> {
        let Reading { config, problems } = Self::read()?;
        problems.into_iter().next().map_or(Ok(config), |problem| Err(problem.into()))
    }

    /// For commands that only look, or end something: they use nothing that could be wrong.
    pub fn look() -> anyhow::Result<Self> {
        Ok(Self::read()?.config)
    }

    pub fn read() -> anyhow::Result<Reading> {
        let data_dir = data_dir()?;
        let mut problems = Vec::new();
        let mut heard = Heard(&mut problems);
        let mut file = heard.or_default(file(&data_dir));
        file.sandbox = heard.value(overridden(file.sandbox.clone(), text)).unwrap_or(file.sandbox);
        let keys = heard.or_default(Keys::read(file.key_variables(), text));
        let for_servers = file.mcp.environment().map(|(name, value)| (name.into(), value.into()));
        let secrets = secrets(std::env::vars_os().chain(for_servers)).into_iter().chain(keys.all().cloned()).collect();
        let models = heard.value(models(&data_dir)).unwrap_or_else(Models::built_in);
        let models = file.models.by_name.iter().fold(models, |models, (name, wanted)| {
            heard.value(adjusted(&models, name, wanted, &data_dir)).unwrap_or(models)
        });
        let law = heard.value(Law::read(&data_dir)).unwrap_or_else(Law::shipped);
        let said = CompactionSettings {
            compaction_trigger_ratio: heard
                .or_default(read_as("AGENT_COMPACTION_TRIGGER_RATIO", "a number such as 0.85")),
            memory_flush_enabled: heard.or_default(read_as("AGENT_MEMORY_FLUSH_ENABLED", "true or false")),
            ..CompactionSettings::default()
        };
        let objection = said.config().objection();
        objection
            .into_iter()
            .for_each(|objection| heard.0.push(WrongUse::new(format!("the environment: {objection}"))));
        let subagents = SubagentConfig {
            max_depth: heard.or_default(number("SUBAGENT_MAX_DEPTH")),
            default_timeout_seconds: heard.or_default(number("SUBAGENT_DEFAULT_TIMEOUT_SECONDS")),
            max_parallel: None,
        };
        if let Some(objection) = subagents.objection() {
            heard.0.push(WrongUse::new(format!("SUBAGENT_DEFAULT_TIMEOUT_SECONDS: {objection}")));
        }
        let openai_api = heard.or_default(openai_api()).unwrap_or(file.openai.api);
        let config = Self {
            compaction: said.or(file.compaction),
            delegation: subagents.or(file.subagents).delegation(),
            catalogue: Catalogue::new(&file.agents),
            agents: places(&file.agents),
            file,
            models,
            law,
            home: named("HOME"),
            config_home: named("XDG_CONFIG_HOME").or_else(|| named("HOME").map(|home| home.join(".config"))),
            user: user(),
            openai: litellm(),
            openai_api,
            anthropic: anthropic(),
            keys,
            secrets,
            max_iterations: heard.or_default(number("AGENT_MAX_ITERATIONS")),
            timeout_seconds: heard.or_default(number("AGENT_TIMEOUT_SECONDS")),
            collector: heard.or_default(collector()),
            log: heard.or_default(read_as("WINDLASS_LOG", LogChoice::WORDS)),
            log_format: heard.or_default(read_as("WINDLASS_LOG_FORMAT", LogFormat::WORDS)).unwrap_or_default(),
            tool_output_max_tokens: heard.or_default(number("AGENT_TOOL_OUTPUT_MAX_TOKENS")),
            data_dir,
        };
        Ok(Reading { config, problems })
    }
}

/// Collects what is wrong.
struct Heard<'a>(&'a mut Vec<WrongUse>);

impl Heard<'_> {
    fn value<T>(&mut self, read: Result<T, WrongUse>) -> Option<T> {
        read.map_err(|problem| self.0.push(problem)).ok()
    }

    fn or_default<T: Default>(&mut self, read: Result<T, WrongUse>) -> T {
        self.value(read).unwrap_or_default()
    }
}

fn file(data_dir: &Path) -> Result<FileConfig, WrongUse> {
    let path = data_dir.join("windlass.toml");
    let Some(text) = read_optional_text(&path)? else { return Ok(FileConfig::default()) };
    let file = parse(&path, &text)?;
    match file.objection(data_dir) {
        Some(objection) => Err(WrongUse::new(format!("{}: {objection}", path.display()))),
        None => Ok(file),
    }
}

fn models(data_dir: &Path) -> Result<Models, WrongUse> {
    let path = data_dir.join("models.toml");
    let Some(text) = read_optional_text(&path)? else { return Ok(Models::built_in()) };
    let models = Models::built_in().overridden_by(&text, &path.display().to_string());
    models.map_err(|error| WrongUse::new(error.to_string()))
}

fn adjusted(models: &Models, name: &str, wanted: &Adjustment, data_dir: &Path) -> Result<Models, WrongUse> {
    let path = data_dir.join("windlass.toml");
    models.clone().adjusted(name, wanted).map_err(|error| WrongUse::new(format!("{}: {error}", path.display())))
}

/// Variables that make a shell or the linker run something before the command itself. An agent could leave that something
/// in the workspace, and every check would run it first.
const RUN_FIRST: [&str; 5] = ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4"];
const RUN_FIRST_PREFIXES: [&str; 2] = ["LD_", "BASH_FUNC_"];

impl FileConfig {
    /// Where the keys of services stand.
    fn key_variables(&self) -> impl Iterator<Item = &str> {
        let embeddings = self.embeddings.iter().filter_map(|embeddings| embeddings.key_env.as_deref());
        let search = self.web_search.iter().filter_map(|search| search.key_env.as_deref());
        embeddings.chain(search).chain(self.mcp.key_variables())
    }

    fn objection(&self, data_dir: &Path) -> Option<String> {
        let SandboxConfig { readonly_mounts, env, limits, network, allowed_hosts, docker, .. } = &self.sandbox;
        if let Some(objection) = limits.objection() {
            return Some(objection);
        }
        if let Some(objection) = self.compaction.config().objection() {
            return Some(format!("[compaction]: {objection}"));
        }
        if let Some(objection) = self.doom_loop.objection() {
            return Some(format!("[doom_loop]: {objection}"));
        }
        if let Some(objection) = allowed_hosts.objection(*network).or_else(|| docker.objection()) {
            return Some(objection);
        }
        if let Some(objection) = self.subagents.objection() {
            return Some(format!("[subagents]: {objection}"));
        }
        if let Some(objection) = self.mcp.objection().or_else(|| self.browser.objection()) {
            return Some(objection);
        }
        if self.approvals.lifetime_seconds == Some(0) {
            return Some("`lifetime_seconds` must be at least 1: nobody could answer in time".to_owned());
        }
        let runs_first = |name: &&String| {
            RUN_FIRST.contains(&name.as_str()) || RUN_FIRST_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        };
        if let Some(name) = env.keys().find(runs_first) {
            return Some(format!(
                "`env` may not set {name}: commands would first run or load what it names, checks among them"
            ));
        }
        let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
        if let Some((name, _)) = env.iter().find(|(name, value)| !is_name(name) || value.contains('\0')) {
            return Some(format!("`env` cannot set {name:?}"));
        }
        readonly_mounts.iter().find_map(|folder| {
            let what = match folder.metadata() {
                _ if !folder.is_absolute() => "must be absolute".to_owned(),
                Err(error) => format!("{error}; make it, or take it out"),
                Ok(_) if overlap(folder, data_dir) => "would show the data directory to agents".to_owned(),
                Ok(_) if has_socket(folder) => {
                    "holds a socket: read-only or not, whoever listens behind it would serve agents".to_owned()
                }
                Ok(_) => return None,
            };
            Some(format!("`readonly_mounts`: {} {what}", folder.display()))
        })
    }
}

/// Whether it is a socket, a folder with one in it, or the place where services have theirs.
fn has_socket(folder: &Path) -> bool {
    let is_socket = |kind: std::fs::FileType| kind.is_socket();
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let inside = || std::fs::read_dir(&real).into_iter().flatten().flatten().filter_map(|entry| entry.file_type().ok());
    let itself = std::fs::symlink_metadata(&real).is_ok_and(|found| is_socket(found.file_type()));
    itself || real.starts_with("/run") || inside().any(is_socket)
}

fn named(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn user() -> String {
    let uid = || format!("uid {}", rustix::process::getuid().as_raw());
    text("USER").or_else(|| text("LOGNAME")).unwrap_or_else(uid)
}

/// `WINDLASS_DATA_DIR`, or `windlass` in the XDG state folder.
fn data_dir() -> anyhow::Result<PathBuf> {
    let folder = named("WINDLASS_DATA_DIR")
        .or_else(|| named("XDG_STATE_HOME").map(|folder| folder.join("windlass")))
        .or_else(|| named("HOME").map(|home| home.join(".local/state/windlass")));
    let folder = folder.ok_or_else(|| WrongUse::new("no data directory").hint("set WINDLASS_DATA_DIR"))?;
    if folder.exists() && !folder.is_dir() {
        return Err(WrongUse::new(format!("the data directory {} is not a folder", folder.display()))
            .hint("set WINDLASS_DATA_DIR to a folder")
            .into());
    }
    std::path::absolute(&folder).with_context(|| format!("{}", folder.display()))
}

/// A key belongs to a server: without an address nobody is asked, least of all a company that the key is not of.
fn litellm() -> Door {
    let base = text("LITELLM_API_BASE");
    Door {
        configured: base.is_some(),
        base_url: base.unwrap_or_default(),
        key: text("LITELLM_API_KEY").map(Secret::new),
        model: text("LITELLM_MODEL"),
    }
}

/// What the environment says, which goes before the file.
fn openai_api() -> Result<Option<OpenAiApi>, WrongUse> {
    match text("LITELLM_API").as_deref().map(str::trim) {
        None => Ok(None),
        Some("chat") => Ok(Some(OpenAiApi::Chat)),
        Some("responses") => Ok(Some(OpenAiApi::Responses)),
        Some(other) => Err(WrongUse::new(format!("LITELLM_API must be `chat` or `responses`, not `{other}`"))),
    }
}

/// What stands there is not repeated: it may hold a password.
fn collector() -> Result<Option<Collector>, WrongUse> {
    let wrong = |_| {
        WrongUse::new(
            "OTEL_EXPORTER_OTLP_ENDPOINT must be such as http://localhost:4318 or https://…, without user or query",
        )
    };
    text("OTEL_EXPORTER_OTLP_ENDPOINT").map(|address| address.trim().parse().map_err(wrong)).transpose()
}

fn anthropic() -> Door {
    let (base, key) = (text("ANTHROPIC_BASE_URL"), text("ANTHROPIC_API_KEY"));
    Door {
        configured: base.is_some() || key.is_some(),
        base_url: base.unwrap_or_else(|| DEFAULT_ANTHROPIC_BASE.to_owned()),
        key: key.map(Secret::new),
        model: text("ANTHROPIC_MODEL"),
    }
}

/// Where an agent that only takes programs for servers finds the endpoint of its execution.
pub fn mcp_endpoint() -> Option<(String, Secret)> {
    Some((text("WINDLASS_MCP_URL")?, Secret::new(text("WINDLASS_MCP_TOKEN")?)))
}

fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn number<T: std::str::FromStr>(name: &str) -> Result<Option<T>, WrongUse> {
    read_as(name, "a whole number")
}

fn read_as<T: std::str::FromStr>(name: &str, what: &str) -> Result<Option<T>, WrongUse> {
    let parse = |value: String| {
        value.trim().parse().map_err(|_| WrongUse::new(format!("{name} must be {what}, not `{value}`")))
    };
    text(name).map(parse).transpose()
}

fn parse(path: &Path, text: &str) -> Result<FileConfig, WrongUse> {
    toml::from_str(text).map_err(|error| WrongUse::new(format!("{}: {error}", path.display())))
}

/// The crash point of a debug build's tests, as `name` or `name:count`.
pub fn crash_at() -> Option<String> {
    cfg!(debug_assertions).then(|| text("WINDLASS_CRASH_AT")).flatten()
}

/// Whether this user sits before a desktop that can show a page.
pub fn has_desktop() -> bool {
    cfg!(target_os = "macos") || named("DISPLAY").is_some() || named("WAYLAND_DISPLAY").is_some()
}

/// Colours are for terminals that want them.
pub fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|value| value != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_setting_is_named() {
        let error = parse(Path::new("windlass.toml"), "[sandbox]\nreadonly_mount = []\n").expect_err("a typo");
        assert!(error.message.contains("readonly_mount"), "{}", error.message);
    }

    #[test]
    fn what_would_run_before_every_command_is_refused() {
        let objection = |toml: &str| {
            let file = parse(Path::new("windlass.toml"), toml).expect("it can be read");
            file.objection(Path::new("/nowhere/data"))
        };
        for name in ["BASH_ENV", "ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"] {
            let said = objection(&format!("[sandbox]\nenv = {{ {name} = \"x\" }}\n")).expect(name);
            assert!(said.contains(name), "{said}");
        }
        assert_eq!(objection("[sandbox]\nenv = { LANG = \"C\", ENVIRONMENT = \"test\", OLD_ENV = \"x\" }\n"), None);
        assert!(objection("[sandbox]\nenv = { \"A=B\" = \"x\" }\n").is_some());
    }

    #[test]
    fn a_mount_must_be_there_and_must_not_show_the_data_directory() {
        let folder = tempfile::tempdir().expect("a folder");
        let (data, other) = (folder.path().join("data"), folder.path().join("other"));
        std::fs::create_dir(&other).expect("a folder");
        let objection = |mount: &Path| {
            let sandbox = SandboxConfig { readonly_mounts: vec![mount.to_owned()], ..SandboxConfig::default() };
            FileConfig { sandbox, ..FileConfig::default() }.objection(&data)
        };
        assert_eq!(objection(&other), None);
        for refused in [folder.path(), Path::new("/"), Path::new("other"), &folder.path().join("away")] {
            assert!(objection(refused).is_some(), "{}", refused.display());
        }
    }
}
