//! The operator's list of hosts: `example.com`, `.example.com` for it and every name below it, `10.0.0.7:8080` or
//! `cache.local:3128` for one port of one host, wherever that is. Pure.

use std::fmt;

use super::{address::Spelling, dial::Addresses, refused::Reason};

/// Where the web is. Any other port is named in its entry.
const PORTS: [u16; 2] = [80, 443];

#[derive(Clone, Default, PartialEq, Eq)]
pub struct Hosts(Vec<Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    host: Spelling,
    with_names_below: bool,
    port: Option<u16>,
    written: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{entry:?} {why}")]
pub struct BadHost {
    pub entry: String,
    pub why: &'static str,
}

impl Hosts {
    pub fn parse<Words>(entries: Words) -> Result<Self, BadHost>
    where
        Words: IntoIterator,
        Words::Item: AsRef<str>,
    {
        entries.into_iter().map(|entry| Entry::parse(entry.as_ref())).collect::<Result<_, _>>().map(Self)
    }

    /// Which of its addresses may be connected to, or why none.
    pub fn judge(&self, host: &Spelling, port: u16) -> Result<Addresses, Reason> {
        if *host == Spelling::Nonsense {
            return Err(Reason::Nonsense);
        }
        let mut of_host = self.0.iter().filter(|entry| entry.names(host)).peekable();
        if of_host.peek().is_none() {
            return Err(Reason::NotListed);
        }
        // Who names a port names one service, on whatever network that is.
        let mut found = Err(Reason::Port);
        for entry in of_host {
            match entry.port {
                Some(named) if named == port => return Ok(Addresses::Any),
                None if PORTS.contains(&port) => found = Ok(Addresses::Public),
                Some(_) | None => {}
            }
        }
        found
    }

    /// As they were written.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| entry.written.as_str())
    }
}

impl Entry {
    fn parse(written: &str) -> Result<Self, BadHost> {
        let bad = |why| BadHost { entry: written.to_owned(), why };
        let (host, port) = match written.rsplit_once(':') {
            // An address of version 6 without brackets has no port.
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
            _ => (written, None),
        };
        let port = match port.map(str::parse::<u16>) {
            None => None,
            Some(Ok(port)) if port > 0 => Some(port),
            Some(_) => return Err(bad("must end in a port from 1 to 65535, or in none")),
        };
        let (name, with_names_below) = match host.strip_prefix('.') {
            Some(name) => (name, true),
            None => (host, false),
        };
        let host = Spelling::of(name);
        match &host {
            Spelling::Nonsense if name.contains('*') => Err(bad("must not have a `*`; write .example.com")),
            Spelling::Nonsense => Err(bad("must be a host's name or address, without scheme and path")),
            Spelling::Address(_) if with_names_below => {
                Err(bad("must not begin with a dot: nothing is below an address"))
            }
            Spelling::Name(name) if with_names_below && !name.contains('.') => {
                Err(bad("must have two parts at least: everything below a single one is too much"))
            }
            Spelling::Name(_) if with_names_below && port.is_some() => {
                Err(bad("must not name a port for many hosts: name each"))
            }
            Spelling::Name(_) | Spelling::Address(_) => {
                Ok(Self { host, with_names_below, port, written: written.to_owned() })
            }
        }
    }

    fn names(&self, host: &Spelling) -> bool {
        if self.host == *host {
            return true;
        }
        let (Spelling::Name(own), Spelling::Name(wanted)) = (&self.host, host) else { return false };
        self.with_names_below && wanted.strip_suffix(own.as_str()).is_some_and(|below| below.ends_with('.'))
    }
}

impl fmt::Debug for Hosts {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_list().entries(self.0.iter().map(|entry| &entry.written)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(list: &[&str], host: &str, port: u16, expect: &str) {
        let hosts = Hosts::parse(list).expect("a list");
        let judged = match hosts.judge(&Spelling::of(host), port) {
            Ok(Addresses::Public) => "public",
            Ok(Addresses::Any) => "any",
            Err(Reason::NotListed) => "not listed",
            Err(Reason::Port) => "port",
            Err(other) => panic!("{other}"),
        };
        assert_eq!(judged, expect, "{host}:{port} by {list:?}");
    }

    #[test]
    fn a_host_is_allowed_by_its_whole_name() {
        let list = &["Example.com", ".deep.example.org", "cache.local:3128", "10.0.0.7:8080", "[fd00::1]:80"][..];
        check(list, "example.com", 443, "public");
        check(list, "EXAMPLE.com.", 80, "public");
        check(list, "example.com", 22, "port");
        check(list, "www.example.com", 443, "not listed");
        check(list, "notexample.com", 443, "not listed");
        check(list, "example.com.evil.org", 443, "not listed");
        check(list, "deep.example.org", 443, "public");
        check(list, "a.b.deep.example.org", 443, "public");
        check(list, "shallowdeep.example.org", 443, "not listed");
        check(list, "example.org", 443, "not listed");
        check(list, "cache.local", 3128, "any");
        check(list, "cache.local", 80, "port");
        check(list, "0xa.7", 8080, "any");
        check(list, "10.0.0.7", 80, "port");
        check(list, "[fd00:0::1]", 80, "any");
        check(list, "8.8.8.8", 443, "not listed");
        check(&[], "example.com", 443, "not listed");
        check(&["example.com", "example.com:443"], "example.com", 443, "any");
    }

    #[test]
    fn what_cannot_be_meant_is_said() {
        for entry in [
            "",
            ".",
            "*.example.com",
            "https://example.com",
            "example.com/path",
            "example.com:0",
            "example.com:http",
            "example.com:70000",
            ".com",
            ".10.0.0.1",
            ".example.com:443",
            "a b",
            "[::1",
            "user@example.com",
        ] {
            assert!(Hosts::parse([entry]).is_err(), "{entry:?}");
        }
    }
}
