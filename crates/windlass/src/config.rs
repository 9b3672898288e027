//! The operator's configuration: environment variables (seed 000 §17.1), and `windlass.toml` and `models.toml` in the data
//! directory. Nothing is ever read from the workspace: a repository does not configure what runs in it.

#![expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;
use windlass_domain::Secret;
use windlass_llm::Models;

use crate::exit::WrongUse;

pub const DEFAULT_MODEL: &str = "gpt-4o";
const DEFAULT_ANTHROPIC_BASE: &str = "https://api.anthropic.com";
const DEFAULT_OPENAI_BASE: &str = "https://api.openai.com";

/// What stands in `windlass.toml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileConfig {
    pub sandbox: SandboxConfig,
    pub workspace: WorkspaceConfig,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxConfig {
    /// Folders that every sandbox may read, at the same path: toolchains and caches.
    pub readonly_mounts: Vec<PathBuf>,
    /// Variables that every sandbox is given.
    pub env: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceConfig {
    /// Ignored paths that checks need, such as `node_modules`.
    pub carry: Vec<String>,
}

pub struct Config {
    pub data_dir: PathBuf,
    pub file: FileConfig,
    pub models: Models,
    pub openai: Door,
    pub anthropic: Door,
    /// What must never be written anywhere.
    pub secrets: Vec<Secret>,
    pub max_iterations: Option<u32>,
    pub timeout_seconds: Option<u64>,
    pub tool_output_max_tokens: Option<usize>,
}

/// How one provider is reached.
#[derive(Clone)]
pub struct Door {
    pub base_url: String,
    pub key: Option<Secret>,
    pub model: Option<String>,
    /// Whether the operator said anything about it at all.
    pub configured: bool,
}

impl Config {
    pub fn load() -> anyhow::Result<Self> {
        let data_dir = data_dir()?;
        let file = read_optional(&data_dir.join("windlass.toml"))?;
        let file = file.map(|(path, text)| parse(&path, &text)).transpose()?.unwrap_or_default();
        let mut models = Models::built_in();
        if let Some((path, text)) = read_optional(&data_dir.join("models.toml"))? {
            models = models
                .overridden_by(&text, &path.display().to_string())
                .map_err(|error| WrongUse::new(error.to_string()))?;
        }
        Ok(Self {
            data_dir,
            file,
            models,
            openai: door(
                &["LITELLM_API_BASE", "OPENAI_BASE_URL"],
                &["LITELLM_API_KEY", "OPENAI_API_KEY"],
                "LITELLM_MODEL",
                DEFAULT_OPENAI_BASE,
            ),
            anthropic: door(&["ANTHROPIC_BASE_URL"], &["ANTHROPIC_API_KEY"], "ANTHROPIC_MODEL", DEFAULT_ANTHROPIC_BASE),
            secrets: secrets(std::env::vars_os()),
            max_iterations: number("AGENT_MAX_ITERATIONS")?,
            timeout_seconds: number("AGENT_TIMEOUT_SECONDS")?,
            tool_output_max_tokens: number("AGENT_TOOL_OUTPUT_MAX_TOKENS")?,
        })
    }
}

/// `WINDLASS_DATA_DIR`, or `windlass` in the XDG state folder.
fn data_dir() -> anyhow::Result<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = named("WINDLASS_DATA_DIR")
        .or_else(|| named("XDG_STATE_HOME").map(|folder| folder.join("windlass")))
        .or_else(|| named("HOME").map(|home| home.join(".local/state/windlass")));
    let folder = folder.ok_or_else(|| WrongUse::new("no data directory").hint("set WINDLASS_DATA_DIR"))?;
    if folder.exists() && !folder.is_dir() {
        return Err(WrongUse::new(format!("the data directory {} is not a folder", folder.display())).into());
    }
    std::path::absolute(&folder).with_context(|| format!("{}", folder.display()))
}

fn door(bases: &[&str], keys: &[&str], model: &str, default_base: &str) -> Door {
    let first = |names: &[&str]| names.iter().find_map(|name| text(name));
    let (base, key) = (first(bases), first(keys));
    Door {
        configured: base.is_some() || key.is_some(),
        base_url: base.unwrap_or_else(|| default_base.to_owned()),
        key: key.map(Secret::new),
        model: text(model),
    }
}

fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn number<T: std::str::FromStr>(name: &str) -> Result<Option<T>, WrongUse> {
    let parse = |value: String| {
        value.trim().parse().map_err(|_| WrongUse::new(format!("{name} must be a whole number, not `{value}`")))
    };
    text(name).map(parse).transpose()
}

/// Every variable whose name says that it holds one.
fn secrets(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<Secret> {
    const SAYS_SO: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS"];
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| SAYS_SO.iter().any(|word| name.to_uppercase().ends_with(word)) && value.len() >= 8)
        .map(|(_, value)| Secret::new(value))
        .collect()
}

fn read_optional(path: &Path) -> anyhow::Result<Option<(PathBuf, String)>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some((path.to_owned(), text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{}", path.display())),
    }
}

fn parse(path: &Path, text: &str) -> Result<FileConfig, WrongUse> {
    toml::from_str(text).map_err(|error| WrongUse::new(format!("{}: {error}", path.display())))
}

/// The crash point of a debug build's tests, as `name` or `name:count`.
pub fn crash_at() -> Option<String> {
    cfg!(debug_assertions).then(|| text("WINDLASS_CRASH_AT")).flatten()
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
    fn variables_that_say_they_are_secret_are_taken_for_secrets() {
        let variables =
            [("GH_TOKEN", "abcdefghij"), ("Db_Password", "hunter2hunter2"), ("HOME", "/home/you/somewhere")];
        let found = secrets(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        assert_eq!(found.iter().map(Secret::expose).collect::<Vec<_>>(), ["abcdefghij", "hunter2hunter2"]);
    }

    #[test]
    fn an_unknown_setting_is_named() {
        let error = parse(Path::new("windlass.toml"), "[sandbox]\nreadonly_mount = []\n").expect_err("a typo");
        assert!(error.message.contains("readonly_mount"), "{}", error.message);
    }
}
