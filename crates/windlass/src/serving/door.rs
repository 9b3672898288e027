//! Where the server listens, and whether it may: beyond this machine only where what is said cannot be overheard, by a name that
//! is known, and to people who have each their own token.

use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use windlass_server::auth::HostName;
use windlass_server::{BadTls, Tls, tls_from_files};

use super::ServerConfig;
use crate::arguments::Serve;
use crate::config::{Config, Written};
use crate::exit::WrongUse;

const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7117);

pub struct Door {
    pub address: SocketAddr,
    pub tls: Option<Tls>,
    pub hosts: Vec<HostName>,
}

/// A certificate and its key, and how whoever named them knows them.
struct Named {
    files: (PathBuf, PathBuf),
    by: (String, String),
}

impl Door {
    /// The command's word before the file's; or all that is wrong. `has_tokens`: none where nobody can tell.
    pub fn of(arguments: &Serve, config: &Config, has_tokens: Option<bool>) -> Result<Self, Vec<WrongUse>> {
        Self::opened(arguments, (&config.file.server, &config.written), has_tokens)
    }

    fn opened(
        arguments: &Serve,
        (file, written): (&ServerConfig, &Written),
        has_tokens: Option<bool>,
    ) -> Result<Self, Vec<WrongUse>> {
        let mut wrong = Vec::new();
        let address = arguments.listen.or(file.listen()).unwrap_or(DEFAULT_ADDRESS);
        let tls = match (&arguments.tls_certificate, &arguments.tls_key) {
            (Some(certificate), Some(key)) => read(Named {
                files: (certificate.clone(), key.clone()),
                by: ("--tls-certificate".to_owned(), "--tls-key".to_owned()),
            })
            .map(Some),
            (None, None) => of_file(file, written),
            _ => Err(vec![
                WrongUse::new("a certificate goes with its key").hint("say both --tls-certificate and --tls-key"),
            ]),
        };
        // What could not be read may have been meant well: what follows from that is no mistake of its own.
        let is_encrypted = !matches!(tls, Ok(None))
            || ["server.tls_certificate", "server.tls_key"].iter().any(|key| written.is_misread(key));
        let tls = tls.unwrap_or_else(|bad| {
            wrong.extend(bad);
            None
        });
        let hosts: Vec<HostName> = file.hosts.iter().filter_map(|host| host.parse().ok()).collect();
        let is_named = written.is_misread("server.hosts") || !hosts.iter().all(HostName::is_loopback);
        let is_proxied = arguments.behind_proxy || file.behind_proxy || written.is_misread("server.behind_proxy");
        let whence = match arguments.listen {
            Some(_) => format!("--listen {address}"),
            None => format!("{}: [server] `listen`: {address}", written.place("server.listen")),
        };
        let mut refuse = |what: &str, hint: &str| {
            wrong.push(WrongUse::new(format!("{whence} is open to other machines, and {what}")).hint(hint));
        };
        if !address.ip().is_loopback() {
            if !is_encrypted && !is_proxied {
                refuse(
                    "what is said there is not encrypted",
                    "give it a certificate with --tls-certificate and --tls-key, or say --behind-proxy where something in front of it speaks TLS",
                );
            }
            if !is_named {
                refuse(
                    "no name is listed that they use",
                    "list them in `[server] hosts` of windlass.toml: any other name may be a web page's",
                );
            }
            if has_tokens == Some(false) {
                refuse(
                    "nobody there has a token",
                    "make one for each of them: windlass token add NAME --scope read,write",
                );
            }
        }
        if wrong.is_empty() { Ok(Self { address, tls, hosts }) } else { Err(wrong) }
    }

    /// As people type it.
    pub fn url(&self, bound: SocketAddr) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{bound}")
    }
}

/// What the file says of TLS can be had.
pub fn in_file(config: &Config) -> Result<Option<Tls>, Vec<WrongUse>> {
    of_file(&config.file.server, &config.written)
}

fn of_file(file: &ServerConfig, written: &Written) -> Result<Option<Tls>, Vec<WrongUse>> {
    let by = |key: &str| format!("{}: [server] `{key}`:", written.place(&format!("server.{key}")));
    let alone = |said: &str, missing: &str| match written.is_misread(&format!("server.{missing}")) {
        true => Ok(None),
        false => {
            let what = format!("{} a certificate goes with its key, and `{missing}` is not said", by(said));
            Err(vec![WrongUse::new(what)])
        }
    };
    match (&file.tls_certificate, &file.tls_key) {
        (Some(certificate), Some(key)) => {
            let files = (certificate.clone(), key.clone());
            read(Named { files, by: (by("tls_certificate"), by("tls_key")) }).map(Some)
        }
        (Some(_), None) => alone("tls_certificate", "tls_key"),
        (None, Some(_)) => alone("tls_key", "tls_certificate"),
        (None, None) => Ok(None),
    }
}

fn read(Named { files: (certificate, key), by: (by_certificate, by_key) }: Named) -> Result<Tls, Vec<WrongUse>> {
    let told = |by: &dyn Display, bad: &BadTls| WrongUse::new(format!("{by} {bad}"));
    tls_from_files(&certificate, &key).map_err(|bad| {
        let told = bad.iter().map(|bad| match bad {
            BadTls::Key { .. } => told(&by_key, bad),
            BadTls::Certificate { .. } | BadTls::Pair(_) => told(&by_certificate, bad),
        });
        told.collect()
    })
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

    /// So many mistakes.
    fn check(arguments: &Serve, file: &ServerConfig, has_tokens: bool, expect: usize) {
        let opened = Door::opened(arguments, (file, &Written::default()), Some(has_tokens));
        let told: Vec<String> = opened.err().unwrap_or_default().into_iter().map(|wrong| wrong.message).collect();
        assert_eq!(told.len(), expect, "{arguments:?} {file:?}: {told:#?}");
    }

    #[test]
    fn a_door_to_others_is_opened_only_where_everything_is_in_order() {
        let file = ServerConfig::default();
        check(&asked("127.0.0.1:0"), &file, false, 0);
        check(&asked("[::1]:0"), &file, false, 0);
        let named = ServerConfig { hosts: vec!["windlass.example".to_owned()], ..ServerConfig::default() };
        let behind = || Serve { behind_proxy: true, ..asked("0.0.0.0:0") };
        check(&behind(), &named, true, 0);
        check(&behind(), &named, false, 1);
        check(&behind(), &file, true, 1);
        let own = ServerConfig { hosts: vec!["localhost".to_owned()], ..ServerConfig::default() };
        check(&behind(), &own, true, 1);
        check(&asked("0.0.0.0:0"), &named, true, 1);
        check(&asked("0.0.0.0:0"), &file, false, 3);
        let half = Serve { tls_key: Some("key.pem".into()), ..asked("127.0.0.1:0") };
        check(&half, &file, true, 1);
        let half = ServerConfig { tls_key: Some("key.pem".into()), ..ServerConfig::default() };
        check(&asked("127.0.0.1:0"), &half, true, 1);
        let neither = ServerConfig {
            tls_certificate: Some("/no/such/cert.pem".into()),
            tls_key: Some("/no/such/key.pem".into()),
            ..ServerConfig::default()
        };
        check(&asked("0.0.0.0:0"), &neither, false, 4);
    }
}
