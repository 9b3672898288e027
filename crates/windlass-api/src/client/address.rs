//! Where a server is: `https://host:port`, or `http://` for one on this machine. There is no path: what can be asked stands under `/v1`.

use std::fmt;
use std::net::IpAddr;

use http::Uri;

use super::Error;

/// Where `windlass serve` listens unless it is told otherwise.
const PORT: u16 = 7117;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(super) is_tls: bool,
    /// Without brackets.
    pub(super) host: String,
    pub(super) port: u16,
}

impl Address {
    pub fn parse(text: &str) -> Result<Self, Error> {
        let bad = || Error::BadAddress(without_user(text.trim()));
        let uri: Uri = text.trim().parse().map_err(|_| bad())?;
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(bad()),
        };
        let authority = uri.authority().ok_or_else(bad)?;
        let has_more = !matches!(uri.path(), "" | "/") || uri.query().is_some();
        if has_more || authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(bad());
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        Ok(Self { is_tls, host, port: authority.port_u16().unwrap_or(PORT) })
    }

    /// Whether nobody else is on the way to it.
    fn is_this_machine(&self) -> bool {
        match self.host.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => self.host == "localhost" || self.host.ends_with(".localhost"),
        }
    }

    pub(super) fn may_be_told_a_token(&self) -> Result<(), Error> {
        match self.is_tls || self.is_this_machine() {
            true => Ok(()),
            false => Err(Error::Unencrypted(self.to_string())),
        }
    }

    /// As the `Host` header has it.
    pub(super) fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

/// A password in an address is not repeated to a screen.
fn without_user(text: &str) -> String {
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        (None, Some((_, rest))) => rest.to_owned(),
        _ => text.to_owned(),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.is_tls { "https" } else { "http" }, self.authority())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        match Address::parse(text) {
            Ok(address) => {
                let token = if address.may_be_told_a_token().is_ok() { "" } else { ", no token" };
                format!("{address}{token}")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn an_address_is_a_scheme_a_host_and_perhaps_a_port() {
        for (text, expected) in [
            ("https://windlass.example", "https://windlass.example:7117"),
            ("https://windlass.example:443/", "https://windlass.example:443"),
            ("http://127.0.0.1:80", "http://127.0.0.1:80"),
            (" http://LOCALHOST:1 ", "http://localhost:1"),
            ("http://[::1]:9", "http://[::1]:9"),
        ] {
            assert_eq!(told(text), expected);
        }
        for text in ["", "windlass.example", "ftp://a", "https://", "https://a/v1", "https://a?x=1", "https://a b"] {
            assert!(told(text).contains("is not the address of a server"), "{text}: {}", told(text));
        }
    }

    #[test]
    fn a_token_goes_in_the_clear_to_nobody_but_this_machine() {
        for text in ["http://windlass.example", "http://10.0.0.1", "http://127.0.0.1.example", "http://[fe80::1]"] {
            assert!(told(text).ends_with(", no token"), "{text}: {}", told(text));
        }
        for text in ["http://127.8.8.8", "http://[::1]", "http://localhost", "https://10.0.0.1"] {
            assert!(!told(text).contains("no token"), "{text}: {}", told(text));
        }
    }

    #[test]
    fn a_password_in_an_address_is_not_repeated() {
        assert!(!told("https://ann:secret@windlass.example").contains("secret"));
        assert!(!told("ann:secret@windlass.example").contains("secret"));
    }
}
