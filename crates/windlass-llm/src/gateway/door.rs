//! Who may come in: whoever has the key, and calls this place by a name that only this machine has. A browser that was lured
//! here sends another host, or the origin that it was lured from. Pure.

use http::{HeaderMap, StatusCode, Uri, header};
use windlass_domain::Secret;

/// By what somebody is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turned {
    Host,
    Origin,
    Key,
}

impl Turned {
    pub const fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Key => StatusCode::UNAUTHORIZED,
        }
    }

    pub const fn kind(self) -> &'static str {
        match self {
            Self::Host | Self::Origin => "permission_error",
            Self::Key => "authentication_error",
        }
    }

    pub const fn message(self) -> &'static str {
        match self {
            Self::Host => "this server is called 127.0.0.1 or localhost, and answers to no other name",
            Self::Origin => "this server answers no web pages",
            Self::Key => "the key is missing or not the one of this execution; send it as a bearer or as x-api-key",
        }
    }
}

/// In this order, so that a stranger learns nothing about the key.
pub fn admit(key: &Secret, uri: &Uri, headers: &HeaderMap) -> Result<(), Turned> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let is_named_well = host.is_some_and(is_local) && uri.authority().is_none_or(|host| is_local(host.as_str()));
    if !is_named_well {
        return Err(Turned::Host);
    }
    if headers.get_all(header::ORIGIN).iter().any(|origin| !origin.to_str().is_ok_and(is_local_origin)) {
        return Err(Turned::Origin);
    }
    if !keys(headers).any(|shown| is_same(shown, key.expose().as_bytes())) {
        return Err(Turned::Key);
    }
    Ok(())
}

fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost")
}

fn is_local_origin(origin: &str) -> bool {
    origin.strip_prefix("http://").is_some_and(is_local)
}

fn keys(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let bearers = headers.get_all(header::AUTHORIZATION).iter().filter_map(|value| {
        let (scheme, key) = value.as_bytes().split_at_checked(7)?;
        scheme.eq_ignore_ascii_case(b"bearer ").then_some(key)
    });
    bearers.chain(headers.get_all("x-api-key").iter().map(http::HeaderValue::as_bytes))
}

/// Takes as long for a key that is nearly right as for one that is all wrong.
fn is_same(shown: &[u8], key: &[u8]) -> bool {
    let difference = shown.iter().zip(key).fold(0, |all, (one, other)| std::hint::black_box(all | (one ^ other)));
    shown.len() == key.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knock(headers: &[(&'static str, &'static str)]) -> Result<(), Turned> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header"));
        }
        admit(&Secret::new("k-1234"), &Uri::from_static("/v1/messages"), &map)
    }

    #[test]
    fn the_key_opens_in_both_forms_and_nothing_else_does() {
        let here = ("host", "127.0.0.1:4000");
        assert_eq!(knock(&[here, ("authorization", "Bearer k-1234")]), Ok(()));
        assert_eq!(knock(&[here, ("authorization", "bearer k-1234")]), Ok(()));
        assert_eq!(knock(&[here, ("x-api-key", "k-1234")]), Ok(()));
        assert_eq!(knock(&[here, ("authorization", "Bearer other"), ("x-api-key", "k-1234")]), Ok(()));
        for wrong in
            ["", "Bearer", "Bearer ", "Bearer k-123", "Bearer k-12345", "Bearer K-1234", "Basic k-1234", "k-1234"]
        {
            assert_eq!(knock(&[here, ("authorization", wrong)]), Err(Turned::Key), "{wrong}");
        }
        assert_eq!(knock(&[here]), Err(Turned::Key));
    }

    #[test]
    fn other_names_and_pages_are_turned_away_before_the_key_is_looked_at() {
        let key = ("x-api-key", "k-1234");
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:65535"] {
            assert_eq!(knock(&[("host", host), key]), Ok(()), "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil:80", "127.0.0.2", "", ":80", "[::1]:80"]
        {
            assert_eq!(knock(&[("host", host), key]), Err(Turned::Host), "{host}");
        }
        assert_eq!(knock(&[key]), Err(Turned::Host));
        assert_eq!(knock(&[("host", "localhost"), ("origin", "http://evil.example"), key]), Err(Turned::Origin));
        assert_eq!(knock(&[("host", "localhost"), ("origin", "null"), key]), Err(Turned::Origin));
        assert_eq!(knock(&[("host", "localhost"), ("origin", "http://localhost:3"), key]), Ok(()));
        let absolute = Uri::from_static("http://evil.example/v1/messages");
        let headers = [("host", "localhost"), key]
            .map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")));
        let headers = HeaderMap::<http::HeaderValue>::from_iter(headers);
        assert_eq!(admit(&Secret::new("k-1234"), &absolute, &headers), Err(Turned::Host));
    }
}
