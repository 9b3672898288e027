//! `[redis]` in `windlass.toml`, and `REDIS_URL`, without which there is none: whose work comes by Redis streams, where it is done and with
//! what. Whoever writes there decides none of that; hence whoever opens the door signs for what comes in by it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use windlass_domain::{Secret, Tenant};
use windlass_engine::Submission;
use windlass_server::port::Journal;
use windlass_server::redis::{RedisDoor, RedisParts};

use crate::arguments::SandboxName;
use crate::config::Config;
use crate::exit::WrongUse;
use crate::place;
use crate::wiring::Windlass;

const MOST_KEPT: u64 = 10_000;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RedisConfig {
    /// Whose work it is.
    pub tenant: Option<String>,
    /// The folder that its tasks work in.
    pub workspace: Option<PathBuf>,
    /// Whether cards may be answered there. Whoever can write to the streams can then approve.
    pub approvals: bool,
    /// About how many entries are kept in each stream that goes out, beside those of the last hour.
    pub maxlen: Option<u64>,
    pub model: Option<String>,
    /// Play this script instead of asking a model.
    pub rehearsal: Option<PathBuf>,
    pub sandbox: Option<SandboxName>,
    /// Of each task.
    pub max_tokens: Option<u64>,
    pub max_cost_usd: Option<f64>,
    pub max_attempts: Option<u32>,
}

impl RedisConfig {
    pub fn objection(&self) -> Option<&'static str> {
        match self {
            Self { maxlen: Some(0), .. } => Some("`maxlen` must be at least 1"),
            Self { sandbox: Some(SandboxName::Process), .. } => {
                Some("`sandbox` cannot be `process`: what other programs ask for is confined")
            }
            _ => None,
        }
    }
}

/// What comes in is carried out with.
pub struct Templates {
    /// A task command.
    pub direct: Submission,
    /// A user's words, and what they begin.
    pub talk: Submission,
}

/// The folder that was named, for whoever sets `REDIS_URL`. None: there is no Redis, or its folder has been complained about.
pub fn folder(config: &Config) -> Result<Option<PathBuf>, WrongUse> {
    let (key, written) = ("redis.workspace", &config.written);
    match &config.file.redis.workspace {
        _ if config.redis_url.is_none() => Ok(None),
        Some(folder) => place::listed(folder, config)
            .map(Some)
            .map_err(|why| WrongUse::new(format!("{}: [redis] `workspace`: {why}", written.place(key)))),
        None if written.is_misread(key) => Ok(None),
        None => Err(WrongUse::new("REDIS_URL is set, and windlass.toml does not say where its tasks work").hint(
            "name a folder: `[redis] workspace = \"…\"`; whoever can write to that Redis can then have work done in it. \
             Or unset REDIS_URL",
        )),
    }
}

/// What is wrong with the address, if anything is.
pub fn bad_address(config: &Config) -> Option<WrongUse> {
    let bad = RedisDoor::objection(config.redis_url.as_ref()?)?;
    Some(WrongUse::new(bad.to_string()))
}

pub fn open(
    config: &Config,
    url: Secret,
    templates: Templates,
    windlass: &Windlass,
    journal: Arc<dyn Journal>,
) -> Result<RedisDoor, WrongUse> {
    let said = &config.file.redis;
    let tenant = said.tenant.as_ref().map_or_else(Tenant::local, Tenant::new);
    let keys = windlass.keys.clone();
    let parts = RedisParts {
        engine: windlass.engine.for_tenant(tenant),
        runtime: Arc::clone(&windlass.runtime),
        journal,
        url,
        direct: templates.direct,
        talk: templates.talk,
        key: Arc::new(move || keys.owner().map_err(|refused| refused.to_string())),
        approvals: said.approvals,
        most_kept: said.maxlen.unwrap_or(MOST_KEPT),
        lease: Duration::from_millis(config.concurrency.session_lease_ttl_ms),
    };
    RedisDoor::new(parts).map_err(|bad| WrongUse::new(bad.to_string()))
}
