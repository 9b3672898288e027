//! Where the database is: a `postgres://` URL as libpq reads it. Its password is in nothing that this module says. What `sslmode`
//! asks for is done; where it is silent, a server on this machine is spoken to plainly, and any other must prove who it is.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// Where Debian's server listens.
const USUAL_SOCKET: &str = "/var/run/postgresql";

#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    pub(super) config: Config,
    pub(super) security: Security,
    /// Certificates to believe in instead of the machine's.
    pub(super) root_certificates: Option<PathBuf>,
    place: String,
}

/// What is asked of the connection, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Security {
    Plain,
    /// Encrypted where the server can, by whomever.
    IfOffered,
    /// Encrypted, by whomever.
    Encrypted,
    /// And the server's certificate is of somebody who is believed.
    Certified,
    /// And it is for this server's name.
    Verified,
}

/// Says what is wrong with it and never what it is: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the store's address is not one: {0}; it looks like postgres://user@host:5432/database")]
pub struct BadAddress(String);

impl Address {
    pub fn parse(url: &str) -> Result<Self, BadAddress> {
        let bad = |what: &str| BadAddress(what.to_owned());
        if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
            return Err(bad("it does not begin with postgres://"));
        }
        let (rest, ours) = take_ours(url)?;
        // The library's own words name what stands in the address.
        let mut config: Config = rest.parse().map_err(|_| bad("it cannot be read"))?;
        // A password ends at the first @: what follows it would be told as the server's name.
        let is_cut = |host: &Host| matches!(host, Host::Tcp(name) if name.contains('@'));
        if config.get_hosts().iter().any(is_cut) {
            return Err(bad("its password holds an `@`, which is written as %40"));
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host_path(USUAL_SOCKET);
        }
        let security = match ours.mode.as_deref() {
            None if is_here(&config) => Security::Plain,
            None | Some("verify-full") => Security::Verified,
            Some("disable") => Security::Plain,
            Some("allow" | "prefer") => Security::IfOffered,
            Some("require") => Security::Encrypted,
            Some("verify-ca") => Security::Certified,
            Some(_) => return Err(bad("sslmode is disable, prefer, require, verify-ca or verify-full")),
        };
        config.ssl_mode(match security {
            Security::Plain => SslMode::Disable,
            Security::IfOffered => SslMode::Prefer,
            Security::Encrypted | Security::Certified | Security::Verified => SslMode::Require,
        });
        notice_a_dead_server(&mut config);
        let place = place(&config);
        Ok(Self { config, security, root_certificates: ours.root_certificates, place })
    }

    /// The database without the password, for people.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// With this password, where the address has none.
    #[must_use]
    pub fn or_password(mut self, password: Option<&str>) -> Self {
        if let (None, Some(password)) = (self.config.get_password(), password) {
            self.config.password(password);
        }
        self
    }

    /// For whoever keeps secrets out of what is written.
    pub fn password(&self) -> Option<&str> {
        self.config.get_password().and_then(|password| std::str::from_utf8(password).ok())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

/// A machine that vanished answers nothing at all: without these it would be waited for for hours.
fn notice_a_dead_server(config: &mut Config) {
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(10));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(20));
    }
    config.keepalives_idle(Duration::from_secs(10)).keepalives_interval(Duration::from_secs(5)).keepalives_retries(2);
    if config.get_application_name().is_none() {
        config.application_name("windlass");
    }
}

/// What the library does not know of.
#[derive(Default)]
struct Ours {
    mode: Option<String>,
    root_certificates: Option<PathBuf>,
}

fn take_ours(url: &str) -> Result<(String, Ours), BadAddress> {
    let mut ours = Ours::default();
    let Some((before, query)) = url.split_once('?') else { return Ok((url.to_owned(), ours)) };
    let mut others = Vec::new();
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", mode)) => ours.mode = Some(mode.to_owned()),
            Some(("sslrootcert", path)) => ours.root_certificates = Some(PathBuf::from(decoded(path)?)),
            _ => others.push(pair),
        }
    }
    let rest = if others.is_empty() { before.to_owned() } else { format!("{before}?{}", others.join("&")) };
    Ok((rest, ours))
}

fn decoded(text: &str) -> Result<String, BadAddress> {
    let bad = || BadAddress("a percent sign is not followed by two hexadecimal digits".to_owned());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        if *first != b'%' {
            bytes.push(*first);
            rest = after;
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()).ok_or_else(bad)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| bad())?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

fn is_here(config: &Config) -> bool {
    let is_loopback =
        |name: &str| name == "localhost" || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => is_loopback(name),
        Host::Unix(_) => true,
    }) && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
}

fn place(config: &Config) -> String {
    let host = config.get_hosts().first().map_or_else(String::new, |host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(folder) => folder.display().to_string(),
    });
    let port = config.get_ports().first().map_or_else(String::new, |port| format!(":{port}"));
    format!("postgres://{host}{port}/{}", config.get_dbname().or(config.get_user()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn security(url: &str) -> Security {
        Address::parse(url).expect("an address").security
    }

    #[test]
    fn a_server_elsewhere_must_prove_who_it_is_unless_sslmode_says_otherwise() {
        assert_eq!(security("postgres://db.example/windlass"), Security::Verified);
        assert_eq!(security("postgres://10.0.0.7:5433/windlass"), Security::Verified);
        assert_eq!(security("postgres://localhost,db.example/windlass"), Security::Verified);
        assert_eq!(security("postgres://localhost/windlass"), Security::Plain);
        assert_eq!(security("postgres://127.0.0.1/windlass"), Security::Plain);
        assert_eq!(security("postgres://[::1]/windlass"), Security::Plain);
        assert_eq!(security("postgres:///windlass"), Security::Plain);
        assert_eq!(security("postgres:///windlass?host=%2Frun%2Fpg"), Security::Plain);
        assert_eq!(security("postgres://localhost/windlass?sslmode=verify-full"), Security::Verified);
        assert_eq!(security("postgres://db.example/windlass?sslmode=disable"), Security::Plain);
        assert_eq!(security("postgres://db.example/windlass?connect_timeout=3&sslmode=require"), Security::Encrypted);
        assert_eq!(security("postgres://db.example/windlass?sslmode=verify-ca"), Security::Certified);
        assert_eq!(security("postgres://db.example/windlass?sslmode=prefer"), Security::IfOffered);
    }

    #[test]
    fn what_is_said_of_an_address_never_holds_the_password() {
        let address = Address::parse("postgres://me:tellnobody@db.example:5433/windlass").expect("an address");
        assert_eq!(address.place(), "postgres://db.example:5433/windlass");
        assert_eq!(address.clone().or_password(Some("another")).password(), Some("tellnobody"));
        let without = Address::parse("postgres://me@db.example/windlass").expect("an address");
        assert_eq!(without.clone().or_password(Some("another")).password(), Some("another"));
        assert_eq!(without.or_password(None).password(), None);
        assert!(!format!("{address:?}").contains("tellnobody"));
        for wrong in [
            "mysql://me:tellnobody@h/d",
            "postgres://me:tellnobody@h:port/d",
            "postgres://a:tellnobody@h/d?sslmode=x",
            "postgres://me:a@tellnobody@h/d",
        ] {
            let said = Address::parse(wrong).expect_err("no address").to_string();
            assert!(!said.contains("tellnobody"), "{said}");
        }
    }

    #[test]
    fn certificates_of_one_s_own_are_named_as_libpq_has_them_named() {
        let address = Address::parse("postgres://h/d?sslrootcert=%2Fetc%2Fmy%20ca.pem").expect("an address");
        assert_eq!(address.root_certificates, Some(PathBuf::from("/etc/my ca.pem")));
        for wrong in ["postgres://h/d?sslrootcert=%2", "postgres://h/d?sslrootcert=%zz"] {
            assert!(Address::parse(wrong).is_err());
        }
    }
}
