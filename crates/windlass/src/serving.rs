//! `[server]` and `[tenants.NAME]` in `windlass.toml`: where `windlass serve` is found, by which names, in which folders those who
//! ask may have agents work, and for how much. `door` has the rule where it may listen at all, `roots` the folders, `cap` the
//! most that may be asked for. All that is wrong is told before anything listens.

mod cap;
mod door;
mod roots;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;
use windlass_server::auth::HostName;

pub use self::cap::{Cap, CapConfig};
pub use self::door::Door;
pub use self::roots::Roots;
use crate::config::Config;
use crate::exit::WrongUse;
use crate::redis;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    pub listen: Option<String>,
    /// Names besides those of this machine's own loopback by which it is called.
    pub hosts: Vec<String>,
    pub tls_certificate: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    pub behind_proxy: bool,
    /// Folders in which tasks of the tenant `local` may work, with all that is in them.
    pub workspaces: Vec<PathBuf>,
    /// How often a token may ask; for a moment four times as often.
    pub requests_per_second: Option<u32>,
    /// The most that a request may ask for.
    pub limits: CapConfig,
    /// Those who may tell of events, by name.
    pub webhooks: BTreeMap<String, WebhookConfig>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TenantConfig {
    pub workspaces: Vec<PathBuf>,
    /// What is not said is as `[server.limits]` has it.
    pub limits: CapConfig,
    pub webhooks: BTreeMap<String, WebhookConfig>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookConfig {
    /// The variable that holds the key with which it signs.
    pub key_env: String,
    /// The variable that holds the path by which it is known where it can bear no token. Whoever knows that path, and signs, is heard.
    pub path_env: Option<String>,
}

/// Of a path that stands for a token.
const SHORTEST_PATH: usize = 32;
const LONGEST_PATH: usize = 128;

/// Whether nobody guesses it, and it can stand in an address.
pub fn is_secret_path(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (SHORTEST_PATH..=LONGEST_PATH).contains(&path.len()) && path.bytes().all(is_plain)
}

/// What is wrong with the paths of webhooks.
pub fn path_objections(config: &Config) -> Vec<WrongUse> {
    let all = config.file.tenants.values().map(|tenant| &tenant.webhooks).chain([&config.file.server.webhooks]);
    let named = all.flat_map(BTreeMap::values).filter_map(|webhook| webhook.path_env.as_ref());
    let is_bad = |name: &&String| config.keys.of(Some(*name)).is_some_and(|path| !is_secret_path(path.expose()));
    let told = |name: &String| {
        let what = format!(
            "windlass.toml: the `path_env` {name} must hold {SHORTEST_PATH} to {LONGEST_PATH} letters, digits, `-` or `_`"
        );
        WrongUse::new(what).hint("make one with: openssl rand -hex 32")
    };
    named.filter(is_bad).map(told).collect()
}

pub type TenantsConfig = BTreeMap<String, TenantConfig>;

impl ServerConfig {
    /// What cannot be meant, whatever the machine is like.
    pub fn objections(&self) -> impl Iterator<Item = String> {
        let listen = self.listen.as_ref().filter(|written| written.parse::<SocketAddr>().is_err());
        let listen = listen.map(|written| {
            format!("`listen`: `{written}` is no address; write one with its port, as 127.0.0.1:7117 or [::1]:7117")
        });
        let hosts = self.hosts.iter().filter_map(|written| {
            let bad = written.parse::<HostName>().err()?;
            Some(format!("`hosts`: {written:?} is no name that a server goes by: {bad}"))
        });
        let never = (self.requests_per_second == Some(0))
            .then(|| "`requests_per_second` must be at least 1: nobody could ask for anything".to_owned());
        listen.into_iter().chain(hosts).chain(never)
    }

    pub fn listen(&self) -> Option<SocketAddr> {
        self.listen.as_ref()?.parse().ok()
    }
}

/// What is wrong with a tenant's name, if anything is.
pub fn unnamed(tenant: &str) -> Option<&'static str> {
    match tenant {
        "local" => Some("the tenant `local` is the operator's own: what is said of it stands in [server]"),
        name if !crate::tokens::is_plain(name) => Some(
            "no token can be of a tenant of that name: it must be letters, digits, `-`, `_`, `.` or `@`, and begin with no dot",
        ),
        _ => None,
    }
}

/// What the file says that cannot be had on this machine as it is, whatever a command says besides.
pub fn mistakes(config: &Config) -> Vec<WrongUse> {
    let (door, roots, redis) = (door::in_file(config).err(), roots::in_file(config).err(), redis::folder(config).err());
    door.into_iter().chain(roots).flatten().chain(redis).collect()
}
