//! A name by which the server is called, as `Host` says it and as an operator lists it: the same however it is written. What
//! cannot be one is refused with what to write instead, because a name that nobody can ever say keeps everybody out.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

const LONGEST: usize = 253;
const LONGEST_LABEL: usize = 63;

/// In small letters, without a dot at its end; an address of IPv6 in brackets and as short as it can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName {
    name: String,
    port: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadHost {
    #[error("it is empty; take it out")]
    Empty,
    #[error("there is a space in it; each name stands alone")]
    Space,
    #[error("it is an address of the web; write the name alone, without `http://` and what follows the name")]
    Url,
    #[error("there is a user in it; write what stands behind the `@`")]
    User,
    #[error("wildcards are not heard; list each name")]
    Wildcard,
    #[error("a port is a number from 1 to 65535; without one, any port is meant")]
    Port,
    #[error("nobody calls a server by the address that stands for all of its addresses; write the name that they use")]
    Unspecified,
    #[error("it is no address of IPv6; write one as `[2001:db8::1]`")]
    Address,
    #[error("it is no name of a host; a name has letters, digits, `-` and `_` between dots (write others as `xn--…`)")]
    Name,
}

impl HostName {
    /// Whether whoever says `said` means this one: without a port it is meant at any.
    pub fn is_meant_by(&self, said: &Self) -> bool {
        self.name == said.name && self.port.is_none_or(|port| said.port == Some(port))
    }

    /// Whether it is this machine's own, which others cannot reach by it.
    pub fn is_loopback(&self) -> bool {
        ["localhost", "127.0.0.1", "[::1]"].contains(&self.name.as_str())
    }
}

impl FromStr for HostName {
    type Err = BadHost;

    fn from_str(said: &str) -> Result<Self, BadHost> {
        if said.is_empty() {
            return Err(BadHost::Empty);
        }
        if said.contains(char::is_whitespace) {
            return Err(BadHost::Space);
        }
        if said.contains(['/', '?', '#', '\\']) {
            return Err(BadHost::Url);
        }
        if said.contains('@') {
            return Err(BadHost::User);
        }
        if said.contains('*') {
            return Err(BadHost::Wildcard);
        }
        // Without brackets no port can stand behind it.
        if let Ok(address) = said.parse::<Ipv6Addr>() {
            return of_address(address, None);
        }
        if let Some(rest) = said.strip_prefix('[') {
            let (address, port) = rest.split_once(']').ok_or(BadHost::Address)?;
            return of_address(address.parse().map_err(|_| BadHost::Address)?, port_in(port)?);
        }
        let (name, port) = said.split_at(said.find(':').unwrap_or(said.len()));
        let port = port_in(port)?;
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        if name.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified()) {
            return Err(BadHost::Unspecified);
        }
        if is_name(&name) { Ok(Self { name, port }) } else { Err(BadHost::Name) }
    }
}

fn of_address(address: Ipv6Addr, port: Option<u16>) -> Result<HostName, BadHost> {
    match address.is_unspecified() {
        true => Err(BadHost::Unspecified),
        false => Ok(HostName { name: format!("[{address}]"), port }),
    }
}

/// What stands behind the name; a colon alone is none (RFC 3986, 3.2.3).
fn port_in(behind: &str) -> Result<Option<u16>, BadHost> {
    match behind.strip_prefix(':') {
        None if behind.is_empty() => Ok(None),
        Some("") => Ok(None),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok().filter(|port| *port > 0).map(Some).ok_or(BadHost::Port)
        }
        None | Some(_) => Err(BadHost::Port),
    }
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_label = |label: &str| {
        (1..=LONGEST_LABEL).contains(&label.len())
            && label.bytes().all(is_letter)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // What ends in a number is an address, or a slip in one.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    name.len() <= LONGEST && name.split('.').all(is_label) && (!is_number || name.parse::<IpAddr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(said: &str) -> HostName {
        said.parse().expect("a name")
    }

    #[test]
    fn a_name_is_the_same_however_it_is_written() {
        for (said, same) in [
            ("Windlass.Example", "windlass.example"),
            ("windlass.example.", "windlass.example"),
            ("windlass.example:", "windlass.example"),
            ("windlass.example.:443", "windlass.example:443"),
            ("windlass_one.example:00443", "windlass_one.example:443"),
            ("2001:DB8:0:0::1", "[2001:db8::1]"),
            ("[2001:db8:0::1]:443", "[2001:db8::1]:443"),
            ("xn--bcher-kva.example", "XN--BCHER-KVA.example"),
            ("192.0.2.7", "192.0.2.7"),
        ] {
            assert_eq!(host(said), host(same), "{said}");
        }
    }

    #[test]
    fn a_port_is_meant_where_it_is_said() {
        let meant = |ours: &str, said: &str| host(ours).is_meant_by(&host(said));
        assert!(meant("windlass.example", "windlass.example:443") && meant("windlass.example", "windlass.example"));
        assert!(meant("windlass.example:443", "windlass.example:443"));
        assert!(!meant("windlass.example:443", "windlass.example:444"));
        assert!(!meant("windlass.example:443", "windlass.example"));
        assert!(!meant("windlass.example", "www.windlass.example"));
    }

    #[test]
    fn what_can_be_nobodys_name_is_refused_with_why() {
        for (said, why) in [
            ("", BadHost::Empty),
            (" windlass.example", BadHost::Space),
            ("one.example two.example", BadHost::Space),
            ("https://windlass.example", BadHost::Url),
            ("windlass.example/", BadHost::Url),
            ("me@windlass.example", BadHost::User),
            ("*.example", BadHost::Wildcard),
            ("*", BadHost::Wildcard),
            ("windlass.example:http", BadHost::Port),
            ("windlass.example:+80", BadHost::Port),
            ("windlass.example:0", BadHost::Port),
            ("windlass.example:65536", BadHost::Port),
            ("windlass.example:80:80", BadHost::Port),
            ("[::1]80", BadHost::Port),
            ("0.0.0.0", BadHost::Unspecified),
            ("[::]:7117", BadHost::Unspecified),
            ("::", BadHost::Unspecified),
            ("[2001:db8::1", BadHost::Address),
            ("[fe80::1%eth0]", BadHost::Address),
            ("[localhost]", BadHost::Address),
            (".", BadHost::Name),
            (":80", BadHost::Name),
            ("windlass..example", BadHost::Name),
            (".windlass.example", BadHost::Name),
            ("-windlass.example", BadHost::Name),
            ("bücher.example", BadHost::Name),
            ("1.2.3", BadHost::Name),
            ("1.2.3.256", BadHost::Name),
            ("windlass,example", BadHost::Name),
        ] {
            assert_eq!(said.parse::<HostName>(), Err(why), "{said:?}");
        }
        assert!(format!("{}.example", "a".repeat(64)).parse::<HostName>().is_err());
        assert!("a.".repeat(127).parse::<HostName>().is_ok() && "a.".repeat(128).parse::<HostName>().is_err());
    }
}
