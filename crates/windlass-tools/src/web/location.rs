//! An address on the web, and where a redirect leads from there. Only `http` and `https`, without credentials. Pure; whether
//! the host may be reached is the dialer's to say.

use std::fmt;

use http::Uri;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub is_tls: bool,
    /// Without brackets.
    pub host: String,
    pub port: u16,
    /// Path and query.
    pub path: String,
}

impl Location {
    /// Or what is wrong with it, for a model.
    pub fn parse(address: &str) -> Result<Self, String> {
        let address = address.trim();
        let (address, _fragment) = address.split_once('#').unwrap_or((address, ""));
        let is_tls = match address.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase()).as_deref() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err("only addresses that begin with https:// or http:// can be fetched".to_owned()),
        };
        let uri: Uri = address.parse().map_err(|_| {
            "this is not a web address; write it in ASCII, with spaces and other letters as %20 and the like".to_owned()
        })?;
        let authority = uri.authority().ok_or("the address has no host")?;
        if authority.as_str().contains('@') {
            return Err("the address holds a user name or a password; those are not sent".to_owned());
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err("the address has no host".to_owned());
        }
        let port = match authority.as_str().rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
            Some((_, port)) => {
                port.parse().ok().filter(|port| *port > 0).ok_or("the address has no port that could be")?
            }
            None if is_tls => 443,
            None => 80,
        };
        let path = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { is_tls, host: host.to_ascii_lowercase(), port, path })
    }

    /// Where `target`, as a redirect writes it, leads from here.
    pub fn join(&self, target: &str) -> Result<Self, String> {
        let target = target.trim();
        let scheme = self.scheme();
        let is_absolute = target.split_once(':').is_some_and(|(scheme, _)| {
            !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        });
        if is_absolute {
            return Self::parse(target);
        }
        if let Some(rest) = target.strip_prefix("//") {
            return Self::parse(&format!("{scheme}://{rest}"));
        }
        let here = self.path.split(['?', '#']).next().unwrap_or("/");
        let folder = here.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = match target.chars().next() {
            Some('/') => target.to_owned(),
            Some('?') => format!("{here}{target}"),
            None | Some('#') => self.path.clone(),
            Some(_) => format!("{folder}/{target}"),
        };
        Self::parse(&format!("{scheme}://{}{}", self.authority(), without_dots(&path)))
    }

    pub const fn scheme(&self) -> &'static str {
        if self.is_tls { "https" } else { "http" }
    }

    /// The one door that it is behind, as `Reach` names it: the port where it is not that of `https`.
    pub fn door(&self) -> String {
        Self { is_tls: true, ..self.clone() }.authority()
    }

    /// For the `host` header: the port where it is not the usual one.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (self.is_tls, self.port) {
            (true, 443) | (false, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme(), self.authority(), self.path)
    }
}

/// `/a/./b/../c` is `/a/c`.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let is_folder = path.ends_with("/.") || path.ends_with("/..");
    let end = if is_folder && !parts.is_empty() { "/" } else { "" };
    format!("/{}{end}{}", parts.join("/"), query.map_or(String::new(), |query| format!("?{query}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let check =
            |address: &str, expected: &str| assert_eq!(Location::parse(address).expect(address).to_string(), expected);
        check("https://Example.org", "https://example.org/");
        check(" http://example.org:8080/a?b=c#d ", "http://example.org:8080/a?b=c");
        check("HTTPS://example.org:443/", "https://example.org/");
        check("http://[::1]/", "http://[::1]/");
        check("http://[::1]:81/", "http://[::1]:81/");
        check("http://0x7f.1?q", "http://0x7f.1/?q");
    }

    #[test]
    fn a_door_is_a_host_and_a_port() {
        let check = |address: &str, expected| assert_eq!(Location::parse(address).expect(address).door(), expected);
        check("https://example.org/a", "example.org");
        check("http://example.org/a", "example.org:80");
        check("https://example.org:8443/", "example.org:8443");
        check("http://[::1]:81/", "[::1]:81");
        check("https://[::1]/", "[::1]");
    }

    #[test]
    fn what_cannot_be_fetched_is_said() {
        let addresses = [
            "",
            "example.org",
            "file:///etc/passwd",
            "ftp://example.org",
            "javascript:alert(1)",
            "http://",
            "https://:443/",
            "http://user:secret@example.org/",
            "http://user@example.org/",
            "http://example.org:0/",
            "http://example.org:99999/",
            "http://exa mple.org/",
            "http://example.org/\r\nX: y",
            "http://bücher.example/",
            "data:text/html,x",
        ];
        for address in addresses {
            let error = Location::parse(address).expect_err(address);
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn redirects_lead_where_they_say() {
        let here = Location::parse("https://example.org/a/b?c=d").expect("an address");
        let check = |target: &str, expected: &str| assert_eq!(here.join(target).expect(target).to_string(), expected);
        check("http://other.org/x", "http://other.org/x");
        check("//other.org/x", "https://other.org/x");
        check("/x?y", "https://example.org/x?y");
        check("x", "https://example.org/a/x");
        check("../x", "https://example.org/x");
        check("../../../x", "https://example.org/x");
        check("./", "https://example.org/a/");
        check("?e=f", "https://example.org/a/b?e=f");
        check("#top", "https://example.org/a/b?c=d");
        check("", "https://example.org/a/b?c=d");
        for target in ["file:///etc/passwd", "javascript:alert(1)", "gopher://x/", "x:y/z"] {
            assert!(here.join(target).is_err(), "{target}");
        }
    }
}
