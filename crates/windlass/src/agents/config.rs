//! `[agents]` in `windlass.toml`: where the programs of coding agents are, where `PATH` does not say it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use windlass_adapters::Patience;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentsConfig {
    /// A folder with a `bin` in which the programs are.
    pub folder: Option<PathBuf>,
    /// The programs themselves, by the agent's name.
    pub programs: BTreeMap<String, PathBuf>,
    /// How long one may be without a word while it neither asks its model nor runs anything.
    pub silence_seconds: Option<u64>,
}

impl AgentsConfig {
    pub fn patience(&self) -> Patience {
        let usual = Patience::default();
        Patience { silence: self.silence_seconds.map_or(usual.silence, Duration::from_secs), ..usual }
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
