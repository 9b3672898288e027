//! Who may speak to an endpoint of this machine, from the head of a request alone: only who means this machine by its own name, does not
//! come from a page of somebody else's, and shows the token. Pure.

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, StatusCode, Uri};
use windlass_domain::{Digest, Secret};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub status: StatusCode,
    pub message: &'static str,
}

const fn refuse(status: StatusCode, message: &'static str) -> Result<(), Refusal> {
    Err(Refusal { status, message })
}

/// Another name for this machine is how a page in a browser would reach it; the token is looked at last, so that no guess at it
/// comes from there.
pub(crate) fn admitted(uri: &Uri, headers: &HeaderMap, token: &Secret) -> Result<(), Refusal> {
    let elsewhere = uri.authority().is_some_and(|authority| !is_this_machine(authority.as_str()));
    if elsewhere || !only(headers, &HOST).is_some_and(is_this_machine) {
        return refuse(StatusCode::FORBIDDEN, "the Host must be 127.0.0.1 or localhost");
    }
    if headers.contains_key(ORIGIN) && !only(headers, &ORIGIN).is_some_and(is_page_of_this_machine) {
        return refuse(StatusCode::FORBIDDEN, "requests from pages of other machines are refused");
    }
    let shown = only(headers, &AUTHORIZATION).and_then(bearer).unwrap_or_default();
    if !is_same(shown, token.expose()) {
        return refuse(StatusCode::UNAUTHORIZED, "show the token of this execution: Authorization: Bearer TOKEN");
    }
    Ok(())
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    only(headers, &CONTENT_TYPE).is_some_and(|kind| bare(kind).eq_ignore_ascii_case("application/json"))
}

/// In which forms an answer is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub json: bool,
    pub stream: bool,
}

/// Who does not say takes JSON.
pub(crate) fn accepted(headers: &HeaderMap) -> Accepted {
    if !headers.contains_key(ACCEPT) {
        return Accepted { json: true, stream: false };
    }
    let kinds: Vec<String> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|kind| bare(kind).to_ascii_lowercase())
        .collect();
    let has = |kind: &str| kinds.iter().any(|it| it == kind);
    Accepted {
        json: has("application/json") || has("application/*") || has("*/*"),
        stream: has("text/event-stream") || has("text/*"),
    }
}

/// A header that stands there once and is text.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then(|| first.to_str().ok()).flatten()
}

fn bare(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, port)) if port.is_empty() || port.strip_prefix(':').is_some_and(is_port) => name,
            _ => return false,
        },
        None => match host.split_once(':') {
            None => host,
            Some((name, port)) if is_port(port) => name,
            Some(_) => return false,
        },
    };
    matches!(name, "127.0.0.1" | "::1") || name.eq_ignore_ascii_case("localhost")
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_page_of_this_machine(origin: &str) -> bool {
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.is_some_and(is_this_machine)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Takes as long for a token that is nearly right as for one that is all wrong, or of another length.
fn is_same(shown: &str, token: &str) -> bool {
    let (shown, token) = (Digest::of(shown.as_bytes()), Digest::of(token.as_bytes()));
    let (shown, token) = (shown.to_string(), token.to_string());
    shown.bytes().zip(token.bytes()).fold(0, |differs, (one, other)| differs | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    fn status(uri: &str, pairs: &[(&'static str, &str)]) -> Option<u16> {
        let token = Secret::new("s3cret");
        admitted(&uri.parse().unwrap(), &headers(pairs), &token).err().map(|refusal| refusal.status.as_u16())
    }

    const KEY: (&str, &str) = ("authorization", "Bearer s3cret");

    #[test]
    fn only_this_machine_by_its_own_name() {
        for host in ["127.0.0.1", "127.0.0.1:80", "localhost:4000", "LOCALHOST", "[::1]", "[::1]:80"] {
            assert_eq!(status("/mcp", &[("host", host), KEY]), None, "{host}");
        }
        for host in [
            "",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.",
            "localhost:x",
            "127.0.0.1:80:80",
            "[::1",
            "[::1]x",
            "127.1",
            "0.0.0.0",
            "localhost:+8",
        ] {
            assert_eq!(status("/mcp", &[("host", host), KEY]), Some(403), "{host}");
        }
        assert_eq!(status("/mcp", &[KEY]), Some(403));
        assert_eq!(status("http://evil.example/mcp", &[("host", "localhost"), KEY]), Some(403));
        assert_eq!(status("http://127.0.0.1/mcp", &[("host", "localhost"), KEY]), None);
    }

    #[test]
    fn no_page_of_another_machine() {
        for origin in ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:9"] {
            assert_eq!(status("/mcp", &[("host", "localhost"), ("origin", origin), KEY]), None, "{origin}");
        }
        for origin in [
            "null",
            "http://evil.example",
            "http://localhost.evil.example",
            "http://localhost@evil.example",
            "file://",
            "localhost",
        ] {
            assert_eq!(status("/mcp", &[("host", "localhost"), ("origin", origin), KEY]), Some(403), "{origin}");
        }
    }

    #[test]
    fn only_with_the_token() {
        for value in ["Bearer s3cret", "bearer s3cret", "BEARER  s3cret"] {
            assert_eq!(status("/mcp", &[("host", "localhost"), ("authorization", value)]), None, "{value}");
        }
        for value in
            ["", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3cret2", "Basic s3cret", "s3cret", "Bearer S3CRET"]
        {
            assert_eq!(status("/mcp", &[("host", "localhost"), ("authorization", value)]), Some(401), "{value}");
        }
        assert_eq!(status("/mcp?token=s3cret", &[("host", "localhost")]), Some(401));
        assert_eq!(status("/mcp", &[("host", "localhost"), ("authorization", "Bearer no"), KEY]), Some(401));
    }

    #[test]
    fn in_which_form_an_answer_is_taken() {
        let taken = |value: &str| {
            let Accepted { json, stream } = accepted(&headers(&[("accept", value)]));
            (json, stream)
        };
        assert_eq!(taken("application/json, text/event-stream"), (true, true));
        assert_eq!(taken("text/event-stream;q=1"), (false, true));
        assert_eq!(taken("*/*"), (true, false));
        assert_eq!(taken("text/html"), (false, false));
        assert_eq!(accepted(&HeaderMap::new()), Accepted { json: true, stream: false });
    }

    #[test]
    fn forms_are_no_json() {
        for (kind, is) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("text/plain", false),
            ("application/x-www-form-urlencoded", false),
            ("application/jsonp", false),
        ] {
            assert_eq!(is_json(&headers(&[("content-type", kind)])), is, "{kind}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
