//! `[agents]` in `windlass.toml`: where the programs of coding agents are, where `PATH` does not say it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use windlass_adapters::{Dialect, Patience};

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentsConfig {
    /// A folder with a `bin` in which the programs are.
    pub folder: Option<PathBuf>,
    /// The programs themselves, by the agent's name.
    pub programs: BTreeMap<String, PathBuf>,
    /// Agents that speak the Agent Client Protocol, by the name they are to have.
    pub acp: BTreeMap<String, AcpConfig>,
    /// How long one may be without a word while it neither asks its model nor runs anything.
    pub silence_seconds: Option<u64>,
    /// How long something that it runs may take without a word about it.
    pub call_seconds: Option<u64>,
}

/// In arguments and variables `{endpoint}`, `{key}`, `{model}`, `{home}` and `{workspace}` stand for what a launch brings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcpConfig {
    /// What it is called, where that is more than its id.
    pub name: Option<String>,
    pub program: String,
    #[serde(default)]
    pub arguments: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The language that it speaks to its model.
    #[serde(default)]
    pub dialect: DialectName,
    /// Whether it takes tools of ours.
    #[serde(default)]
    pub mcp: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DialectName {
    #[default]
    Chat,
    Responses,
    Messages,
}

impl DialectName {
    pub const fn alone(self) -> &'static [Dialect] {
        match self {
            Self::Chat => &[Dialect::Chat],
            Self::Responses => &[Dialect::Responses],
            Self::Messages => &[Dialect::Messages],
        }
    }
}

impl AgentsConfig {
    pub fn patience(&self) -> Patience {
        let usual = Patience::default();
        let seconds = |said: Option<u64>, usual| said.map_or(usual, Duration::from_secs);
        let silence = seconds(self.silence_seconds, usual.silence);
        Patience { silence, call: seconds(self.call_seconds, usual.call), ..usual }
    }
}

/// Where programs are looked for, in this order.
#[derive(Debug, Clone, Default)]
pub struct Places {
    pub programs: BTreeMap<String, PathBuf>,
    pub folder: Option<PathBuf>,
    /// The directories of `PATH`.
    pub path: Vec<PathBuf>,
}
