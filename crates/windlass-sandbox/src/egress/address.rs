//! Which addresses somebody on the public internet may have, and every way to spell one. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why nobody out there has this address, `None` for one that somebody may have. What carries another address within
/// itself, as translators and tunnels do, is judged by that or refused.
pub fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => not_public_v6(address),
    }
}

/// Network, length of its prefix, and what it is for (RFC 6890 and its successors).
const V4: &[([u8; 4], u32, &str)] = &[
    ([0, 0, 0, 0], 8, "this network"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "shared by a carrier"),
    ([127, 0, 0, 0], 8, "loopback"),
    ([169, 254, 0, 0], 16, "link-local"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "reserved"),
    ([192, 0, 2, 0], 24, "documentation"),
    ([192, 88, 99, 0], 24, "a 6to4 relay"),
    ([192, 168, 0, 0], 16, "private"),
    ([198, 18, 0, 0], 15, "for benchmarks"),
    ([198, 51, 100, 0], 24, "documentation"),
    ([203, 0, 113, 0], 24, "documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
    ([240, 0, 0, 0], 4, "reserved"),
];

/// Within 2000::/3, which is all that was ever given out.
const V6: &[([u16; 2], u32, &str)] = &[
    ([0x2001, 0x0000], 23, "reserved or a Teredo tunnel"),
    ([0x2001, 0x0db8], 32, "documentation"),
    ([0x2002, 0x0000], 16, "a 6to4 tunnel"),
    ([0x3fff, 0x0000], 20, "documentation"),
];

fn not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let is_in = |(network, length, _): &&([u8; 4], u32, &str)| {
        (bits ^ Ipv4Addr::from(*network).to_bits()).leading_zeros() >= *length
    };
    V4.iter().find(is_in).map(|(.., what)| *what)
}

fn not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(carried) = carried(address) {
        return not_public_v4(carried);
    }
    if address.segments()[0] >> 13 != 0b001 {
        return Some(match address {
            Ipv6Addr::LOCALHOST => "loopback",
            Ipv6Addr::UNSPECIFIED => "this network",
            _ if address.is_unique_local() => "private",
            _ if address.is_unicast_link_local() => "link-local",
            _ if address.is_multicast() => "multicast",
            _ => "reserved",
        });
    }
    let start = (u32::from(address.segments()[0]) << 16) | u32::from(address.segments()[1]);
    let is_in = |([first, second], length, _): &&([u16; 2], u32, &str)| {
        (start ^ ((u32::from(*first) << 16) | u32::from(*second))).leading_zeros() >= *length
    };
    V6.iter().find(is_in).map(|(.., what)| *what)
}

/// What the kernel (`::ffff:0:0/96`) or a translator (`64:ff9b::/96`) connects to in its place.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let within = |[.., high, low]: [u16; 8]| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some(within(address.segments())),
        _ => None,
    }
}

/// What stands in the place of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spelling {
    /// In lower case, without a final dot.
    Name(String),
    /// However it was spelled: `2130706433`, `0x7f.1` and `[::ffff:127.0.0.1]` are all addresses.
    Address(IpAddr),
    Nonsense,
}

impl Spelling {
    pub fn of(host: &str) -> Self {
        let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Ok(address) = bracketed.unwrap_or(host).parse::<Ipv6Addr>() {
            return Self::Address(address.into());
        }
        let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let is_name = name.len() <= 253 && name.split('.').all(is_label);
        let last = name.rsplit('.').next().unwrap_or_default();
        match (is_name, number(last)) {
            (false, _) => Self::Nonsense,
            (true, None) if last.bytes().all(|byte| byte.is_ascii_digit()) => Self::Nonsense,
            (true, None) => Self::Name(name),
            (true, Some(_)) => ipv4(&name).map_or(Self::Nonsense, |address| Self::Address(address.into())),
        }
    }
}

/// Underscores are in no host name, and in many names of hosts.
fn is_label(label: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=63).contains(&label.len()) && label.bytes().all(is_fit)
}

/// As the C library reads it (`inet_aton`): one to four numbers, the last of which fills what is left.
fn ipv4(name: &str) -> Option<Ipv4Addr> {
    let mut numbers = name.split('.').map(number).collect::<Option<Vec<u64>>>()?;
    let last = numbers.pop()?;
    if numbers.len() > 3 || numbers.iter().any(|number| *number > 255) || last >= 1 << (8 * (4 - numbers.len())) {
        return None;
    }
    let high = numbers.iter().enumerate().fold(0, |bits, (place, number)| bits | (number << (24 - 8 * place)));
    u32::try_from(high | last).ok().map(Ipv4Addr::from)
}

/// Decimal, octal with a leading zero, or hexadecimal; `0x` alone is zero.
fn number(digits: &str) -> Option<u64> {
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    match digits {
        "" if radix == 16 => Some(0),
        _ if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => None,
        _ => u64::from_str_radix(digits, radix).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every spelling of an address that is not public, as a resolver or a person may give it.
    const INSIDE: &str = "
        127.0.0.1 127.255.255.254 127.1 0x7f.1 0x7f000001 0X7F.0.0.1 2130706433 017700000001 0177.0.0.01 127.0.1 127.0.0.1.
        0.0.0.0 0 0x 0.1.2.3 00 10.0.0.1 10.255.255.255 167772161 012.1 0xa.0.0.1
        100.64.0.1 100.127.255.255 169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 169.16689662
        172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 0300.0250.1 198.18.0.1 198.19.255.255
        198.51.100.1 203.0.113.7 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 4294967295
        ::1 [::1] :: [::] ::127.0.0.1 ::ffff:127.0.0.1 [::ffff:7f00:1] ::ffff:10.0.0.1 ::ffff:169.254.169.254
        ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 100::1 2001::1
        2001:0:7f00:1:: 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:808:808:: 3fff::1 3fff:fff::1 fc00::1
        fd00:ec2::254 fdff::1 fe80::1 febf::1 fec0::1 ff02::1 4000::1 5f00::1 1::1 0:0:0:0:0:0:0:1";

    const OUTSIDE: &str = "
        1.1.1.1 8.8.8.8 134744072 0x08080808 010.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255
        128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255
        198.20.0.0 223.255.255.255 2606:4700::1111 2001:4860:4860::8888 2a00::1 2003::1 2001:200::1 ::ffff:8.8.8.8
        64:ff9b::8.8.8.8 [2606:4700::1111] 3ffe::1";

    #[test]
    fn every_spelling_of_an_address_is_judged_by_the_address() {
        let judged = |host: &str| match Spelling::of(host) {
            Spelling::Address(address) => not_public(address),
            other => panic!("{host} is no address: {other:?}"),
        };
        for host in INSIDE.split_ascii_whitespace() {
            assert!(judged(host).is_some(), "{host} counts as public");
        }
        for host in OUTSIDE.split_ascii_whitespace() {
            assert_eq!(judged(host), None, "{host}");
        }
    }

    #[test]
    fn a_name_is_a_name_and_nonsense_is_neither() {
        for (host, name) in [
            ("Example.COM", "example.com"),
            ("example.com.", "example.com"),
            ("a_b.example", "a_b.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("127.0.0.1.nip.io", "127.0.0.1.nip.io"),
            ("0xfg.example", "0xfg.example"),
            ("localhost", "localhost"),
            ("8.8.8.g", "8.8.8.g"),
        ] {
            assert_eq!(Spelling::of(host), Spelling::Name(name.to_owned()), "{host}");
        }
        let long = "a".repeat(64);
        for host in [
            "",
            ".",
            "..",
            "a..b",
            "a b",
            "1.2.3.4.5",
            "256.1.1.1",
            "1.2.3.256",
            "4294967296",
            "08",
            "1.2.3.09",
            "a@b",
            "a%2e",
            "127.0.0.1%eth0",
            "fe80::1%1",
            "[::1",
            "::1]",
            "１２７.0.0.1",
            "bücher.example",
            "a\0b",
            "a/b",
            "a:1",
            "18446744073709551616",
            "example.99",
            &long,
        ] {
            assert_eq!(Spelling::of(host), Spelling::Nonsense, "{host:?}");
        }
    }
}
