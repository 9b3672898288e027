//! The operator's configuration: environment variables (seed 000 §17.1), and `windlass.toml`, `models.toml`, `gates.yaml` and
//! `risk.toml` in the data directory. Nothing is ever read from the workspace: a repository does not configure what runs in it.

#![expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]

#[cfg(test)]
mod known_keys;
mod misspelt;
mod models;
mod nearest;
mod objections;
mod reading;
mod settings;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use serde::Deserialize;
use windlass_domain::coordinate::ConcurrencyConfig;
use windlass_domain::execution::DoomLoopConfig;
use windlass_domain::{Delegation, Secret};
use windlass_llm::{Adjustment, Models};
use windlass_telemetry::Collector;

use self::misspelt::misspelt;
pub use self::models::ModelsConfig;
pub use self::reading::Written;
use self::reading::{Read, read_to_the_end};
pub use self::settings::{Effective, effective};
use crate::agents::{AgentsConfig, Catalogue, Places};
use crate::arguments::SandboxName;
use crate::browser::BrowserConfig;
use crate::compaction::CompactionSettings;
use crate::container::{ContainerConfig, overridden};
use crate::coordinator::CoordinatorConfig;
use crate::delegation::SubagentConfig;
use crate::disk::RoomConfig;
use crate::elsewhere::ClientConfig;
use crate::equipment::Wire;
use crate::exit::WrongUse;
use crate::law::Law;
use crate::limits::LimitsConfig;
use crate::mcp::McpConfig;
use crate::network::{AllowedHosts, NetworkChoice};
use crate::observing::{LogChoice, LogFormat, TelemetryConfig};
use crate::patterns::PatternsConfig;
use crate::redis::RedisConfig;
use crate::retention::RetentionConfig;
use crate::secrets::secrets;
use crate::services::{ContextServiceConfig, EmbeddingsConfig, Keys, WebConfig, WebSearchConfig};
use crate::serving::{ServerConfig, TenantsConfig};
use crate::skills::SkillsConfig;
use crate::stores::{StoreChoice, StoreConfig};
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
    pub context_service: ContextServiceConfig,
    pub skills: SkillsConfig,
    pub patterns: PatternsConfig,
    pub web: WebConfig,
    pub web_search: Option<WebSearchConfig>,
    pub subagents: SubagentConfig,
    pub coordinator: CoordinatorConfig,
    pub telemetry: TelemetryConfig,
    pub mcp: McpConfig,
    pub browser: BrowserConfig,
    pub agents: AgentsConfig,
    pub redis: RedisConfig,
    pub store: StoreConfig,
    pub agent: AgentConfig,
    pub anthropic: AnthropicConfig,
    pub limits: RoomConfig,
    pub retention: RetentionConfig,
    pub client: ClientConfig,
    pub server: ServerConfig,
    pub tenants: TenantsConfig,
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
    pub base_url: Option<String>,
    pub model: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnthropicConfig {
    pub base_url: Option<String>,
    pub model: Option<String>,
}

/// What an attempt may use, unless a command says otherwise (seed 000 §17.1).
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    pub max_iterations: Option<u32>,
    pub timeout_seconds: Option<u64>,
    pub tool_output_max_tokens: Option<usize>,
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
    fn objection(&self) -> Option<String> {
        let never = self.lifetime_seconds == Some(0);
        never.then(|| "`lifetime_seconds` must be at least 1: nobody could answer in time".to_owned())
    }

    pub fn applied_to(&self, law: windlass_engine::Law) -> windlass_engine::Law {
        let card_lifetime = self.lifetime_seconds.map_or(law.card_lifetime, Duration::from_secs);
        windlass_engine::Law { card_lifetime, ..law }
    }
}

#[derive(Clone)]
pub struct Config {
    pub data_dir: PathBuf,
    /// Where what happens is kept.
    pub store: StoreChoice,
    /// Who answers, as the audit names them.
    pub user: String,
    pub home: Option<PathBuf>,
    /// Where programs keep what their user configured.
    pub config_home: Option<PathBuf>,
    /// Whoever may be given work, and where programs of others are looked for.
    pub catalogue: Catalogue,
    pub agents: Places,
    pub file: FileConfig,
    /// What the file says, by its lines.
    pub written: Written,
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
    pub concurrency: ConcurrencyConfig,
    /// With its password: where streams are read and written.
    pub redis_url: Option<Secret>,
    /// Who says what is known about a task.
    pub context_service_url: Option<String>,
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
        together(problems).map_or(Ok(config), |problem| Err(problem.into()))
    }

    /// For commands that only look, or end something: they use nothing that could be wrong.
    pub fn look() -> anyhow::Result<Self> {
        Ok(Self::read()?.config)
    }

    pub fn read() -> anyhow::Result<Reading> {
        let data_dir = data_dir()?;
        let Read { mut file, mut problems, written } = file(&data_dir);
        let mut heard = Heard(&mut problems);
        misspelt(std::env::vars_os()).for_each(|problem| heard.0.push(problem));
        overridden(&mut file.sandbox, text).into_iter().for_each(|problem| heard.0.push(problem));
        let keys = Keys::read(file.key_variables(), text, |problem| heard.0.push(problem));
        let for_servers = file.mcp.environment().map(|(name, value)| (name.into(), value.into()));
        let store = store(&data_dir);
        heard.0.extend(store.objection());
        let secrets = secrets(std::env::vars_os().chain(for_servers)).into_iter().chain(keys.all().cloned());
        let secrets = secrets.chain(store.password()).collect();
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
        let coordinator = CoordinatorConfig {
            max_concurrent_tasks_per_session: heard.or_default(number("COORDINATOR_MAX_CONCURRENT_TASKS")),
            max_concurrent_sessions_per_user: None,
            session_lease_ttl_ms: heard.or_default(number("COORDINATOR_SESSION_LEASE_TTL_MS")),
        };
        if let Some(objection) = coordinator.concurrency().objection() {
            heard.0.push(WrongUse::new(format!("COORDINATOR_…: {objection}")));
        }
        let openai_api = heard.or_default(openai_api()).unwrap_or(file.openai.api);
        let config = Self {
            store,
            compaction: said.or(file.compaction),
            delegation: subagents.or(file.subagents).delegation(),
            concurrency: coordinator.or(file.coordinator).concurrency(),
            redis_url: text("REDIS_URL").map(Secret::new),
            context_service_url: text("CONTEXT_SERVICE_URL").or_else(|| file.context_service.url.clone()),
            catalogue: Catalogue::new(&file.agents),
            agents: places(&file.agents),
            openai: litellm(&file.openai),
            anthropic: anthropic(&file.anthropic),
            max_iterations: heard.or_default(number("AGENT_MAX_ITERATIONS")).or(file.agent.max_iterations),
            timeout_seconds: heard.or_default(number("AGENT_TIMEOUT_SECONDS")).or(file.agent.timeout_seconds),
            tool_output_max_tokens: heard
                .or_default(number("AGENT_TOOL_OUTPUT_MAX_TOKENS"))
                .or(file.agent.tool_output_max_tokens),
            file,
            written,
            models,
            law,
            home: named("HOME"),
            config_home: named("XDG_CONFIG_HOME").or_else(|| named("HOME").map(|home| home.join(".config"))),
            user: user(),
            openai_api,
            keys,
            secrets,
            collector: heard.or_default(collector()),
            log: heard.or_default(read_as("WINDLASS_LOG", LogChoice::WORDS)),
            log_format: heard.or_default(read_as("WINDLASS_LOG_FORMAT", LogFormat::WORDS)).unwrap_or_default(),
            data_dir,
        };
        Ok(Reading { config, problems })
    }
}

/// All of it, in one: whoever mends one mistake should not meet the next at the next start.
pub fn together(problems: Vec<WrongUse>) -> Option<WrongUse> {
    match problems.as_slice() {
        [] | [_] => problems.into_iter().next(),
        many => {
            let said = many.iter().map(|problem| {
                let hint = problem.hint.iter().map(|hint| format!("\n  ({hint})")).collect::<String>();
                format!("\n- {}{hint}", problem.message)
            });
            Some(WrongUse::new(format!("the configuration has {} mistakes:{}", many.len(), said.collect::<String>())))
        }
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

fn file(data_dir: &Path) -> Read {
    let path = data_dir.join("windlass.toml");
    match read_optional_text(&path) {
        Ok(text) => read_to_the_end(&path, &text.unwrap_or_default(), data_dir),
        Err(problem) => Read::none(&path, vec![problem]),
    }
}

/// What is said of a server that commands are for.
pub struct ClientSaid {
    pub server: Option<String>,
    pub token: Option<String>,
    pub token_file: Option<PathBuf>,
}

/// The environment's word before the file's. What is wrong with the rest of the file is told by who uses it.
pub fn client_said() -> ClientSaid {
    let said = data_dir().map(|data_dir| file(&data_dir).file.client).unwrap_or_default();
    let (server, token) = (text("WINDLASS_SERVER").or(said.server), text("WINDLASS_TOKEN"));
    ClientSaid { server, token, token_file: said.token_file }
}

/// Of the file's own words, so that a mistake elsewhere in it leads nobody to another store.
fn store(data_dir: &Path) -> StoreChoice {
    let file = read_optional_text(&data_dir.join("windlass.toml")).ok().flatten();
    StoreChoice::read(text("WINDLASS_STORE_URL").as_deref(), file.as_deref())
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

impl FileConfig {
    /// Where the keys of services stand.
    fn key_variables(&self) -> impl Iterator<Item = &str> {
        let embeddings = self.embeddings.iter().filter_map(|embeddings| embeddings.key_env.as_deref());
        let search = self.web_search.iter().filter_map(|search| search.key_env.as_deref());
        let webhooks = self.tenants.values().map(|tenant| &tenant.webhooks).chain([&self.server.webhooks]);
        let webhooks = webhooks.flat_map(BTreeMap::values);
        let webhooks =
            webhooks.flat_map(|webhook| [Some(webhook.key_env.as_str()), webhook.path_env.as_deref()]).flatten();
        let context = self.context_service.key_env.as_deref();
        embeddings.chain(search).chain(context).chain(self.mcp.key_variables()).chain(webhooks)
    }
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
fn litellm(said: &OpenAiConfig) -> Door {
    let base = text("LITELLM_API_BASE").or_else(|| said.base_url.clone());
    Door {
        configured: base.is_some(),
        base_url: base.unwrap_or_default(),
        key: text("LITELLM_API_KEY").map(Secret::new),
        model: text("LITELLM_MODEL").or_else(|| said.model.clone()),
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

fn anthropic(said: &AnthropicConfig) -> Door {
    let base = text("ANTHROPIC_BASE_URL").or_else(|| said.base_url.clone());
    let key = text("ANTHROPIC_API_KEY");
    Door {
        configured: base.is_some() || key.is_some(),
        base_url: base.unwrap_or_else(|| DEFAULT_ANTHROPIC_BASE.to_owned()),
        key: key.map(Secret::new),
        model: text("ANTHROPIC_MODEL").or_else(|| said.model.clone()),
    }
}

/// Of a PostgreSQL whose address has none, as PostgreSQL's own programs read it.
pub fn postgres_password() -> Option<Secret> {
    text("PGPASSWORD").map(Secret::new)
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
