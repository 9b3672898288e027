//! `[server]` and `[tenants.NAME]` in `windlass.toml`: where `windlass serve` is found, by which names, and in which folders those
//! who ask may have agents work. And the rule where it may listen at all.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::Deserialize;

use crate::arguments::Serve;
use crate::exit::WrongUse;

const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7117);

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
    /// Those who may tell of events, by name.
    pub webhooks: BTreeMap<String, WebhookConfig>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TenantConfig {
    pub workspaces: Vec<PathBuf>,
    pub webhooks: BTreeMap<String, WebhookConfig>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookConfig {
    /// The variable that holds the key with which it signs.
    pub key_env: String,
}

pub type TenantsConfig = BTreeMap<String, TenantConfig>;

/// Where it listens, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Door {
    pub address: SocketAddr,
    /// The certificate and its key.
    pub tls: Option<(PathBuf, PathBuf)>,
    pub hosts: Vec<String>,
}

impl Door {
    /// The command's word before the file's. Beyond this machine only where what is said cannot be overheard, by a name that is
    /// known, and to people who have each their own token.
    pub fn of(arguments: &Serve, file: &ServerConfig, has_named_tokens: bool) -> Result<Self, WrongUse> {
        let written = file.listen.as_ref().map(|written| {
            let wrong = |_| {
                WrongUse::new(format!("windlass.toml: [server] listen: `{written}` is no address"))
                    .hint("write one with its port, as 127.0.0.1:7117")
            };
            written.parse::<SocketAddr>().map_err(wrong)
        });
        let address = arguments.listen.or(written.transpose()?).unwrap_or(DEFAULT_ADDRESS);
        let certificate = arguments.tls_certificate.clone().or_else(|| file.tls_certificate.clone());
        let key = arguments.tls_key.clone().or_else(|| file.tls_key.clone());
        let tls = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                return Err(WrongUse::new("a certificate goes with its key")
                    .hint("say both --tls-certificate and --tls-key, or `tls_certificate` and `tls_key` in [server]"));
            }
        };
        let door = Self { address, tls, hosts: file.hosts.clone() };
        let is_open = !address.ip().is_loopback();
        if is_open && door.tls.is_none() && !(arguments.behind_proxy || file.behind_proxy) {
            return Err(WrongUse::new(format!("{address} is open to other machines, and what is said there is not encrypted"))
                .hint("give it a certificate with --tls-certificate and --tls-key, or say --behind-proxy where something in front of it speaks TLS"));
        }
        if is_open && door.hosts.is_empty() {
            return Err(WrongUse::new(format!(
                "{address} is open to other machines, and no name is listed that they use"
            ))
            .hint("list them in `[server] hosts` of windlass.toml: any other name may be a web page's"));
        }
        if is_open && !has_named_tokens {
            return Err(WrongUse::new(format!("{address} is open to other machines, and nobody there has a token"))
                .hint("make one for each of them: windlass token add NAME --scope read,write"));
        }
        Ok(door)
    }

    /// As people type it.
    pub fn url(&self, bound: SocketAddr) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{bound}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Output, SandboxChoice};

    fn asked(listen: &str) -> Serve {
        Serve {
            listen: listen.parse().ok(),
            tls_certificate: None,
            tls_key: None,
            behind_proxy: false,
            workspace: Vec::new(),
            model: None,
            rehearsal: None,
            sandbox: SandboxChoice { sandbox: None, no_isolation: false },
            no_work: false,
            concurrency: 1,
            drain: 1,
            output: Output { json: false },
        }
    }

    #[test]
    fn a_door_to_others_is_opened_only_where_everything_is_in_order() {
        let file = ServerConfig::default();
        assert!(Door::of(&asked("127.0.0.1:0"), &file, false).is_ok());
        assert!(Door::of(&asked("[::1]:0"), &file, false).is_ok());
        let named = ServerConfig { hosts: vec!["windlass.example".to_owned()], ..ServerConfig::default() };
        let behind = || Serve { behind_proxy: true, ..asked("0.0.0.0:0") };
        assert!(Door::of(&behind(), &named, true).is_ok());
        assert!(Door::of(&behind(), &named, false).is_err(), "nobody has a token");
        assert!(Door::of(&behind(), &file, true).is_err(), "no name");
        assert!(Door::of(&asked("0.0.0.0:0"), &named, true).is_err(), "everybody hears it");
        let half = Serve { tls_key: Some("key.pem".into()), ..asked("127.0.0.1:0") };
        assert!(Door::of(&half, &file, true).is_err());
    }
}
