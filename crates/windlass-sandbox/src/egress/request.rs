//! What a client asks a proxy for, read strictly: what two readers could understand differently is not passed on. Pure.
//!
//! `CONNECT host:port` asks for a tunnel, `GET http://host/path` for one plain request. A plain request goes on with the
//! host that was judged as its `Host`, whatever it said itself, and asks for the end of the connection after its answer.

use std::fmt::Write as _;

/// A longer head is no head.
pub(crate) const LONGEST: usize = 32 << 10;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tunnel,
    /// What to send in its place, and how many bytes follow it.
    Plain {
        head: String,
        body: u64,
    },
}

/// What is wrong with it, for the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bad(pub(crate) &'static str);

/// How long the head is, with the empty line that ends it.
pub(crate) fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

impl Request {
    /// `head` ends with its empty line.
    pub(crate) fn parse(head: &[u8]) -> Result<Self, Bad> {
        let text = str::from_utf8(head).map_err(|_| Bad("the head of a request must be text"))?;
        let text = text.strip_suffix("\r\n\r\n").ok_or(Bad("the head of a request ends with an empty line"))?;
        let mut lines = text.split("\r\n");
        let is_plain = |line: &str| line.bytes().all(|byte| byte == b'\t' || !byte.is_ascii_control());
        if !lines.clone().all(is_plain) {
            return Err(Bad("the head of a request must have no control characters"));
        }
        let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let [method, target, "HTTP/1.1" | "HTTP/1.0"] = words[..] else {
            return Err(Bad("a request begins with a method, a target and HTTP/1.1"));
        };
        if method == "CONNECT" {
            let (host, port) = authority(target, None)?;
            return Ok(Self { host, port, kind: Kind::Tunnel });
        }
        let rest = target.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://")).map(|_| &target[7..]);
        let rest = rest.ok_or(Bad("a proxy is asked for http://host/path, or to CONNECT host:port"))?;
        let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (named, path) = rest.split_at(at);
        let (host, port) = authority(named, Some(80))?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let path = path.split('#').next().unwrap_or_default();
        let mut head = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {named}\r\nConnection: close\r\n");
        let body = pass_on(lines, &mut head)?;
        head.push_str("\r\n");
        Ok(Self { host, port, kind: Kind::Plain { head, body } })
    }
}

/// What is between one client and one proxy, or was judged instead of believed.
const NOT_PASSED_ON: [&str; 9] = [
    "host",
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "proxy-authenticate",
    "te",
    "trailer",
    "upgrade",
];

/// How long the body is.
fn pass_on<'a>(fields: impl Iterator<Item = &'a str>, head: &mut String) -> Result<u64, Bad> {
    let mut body = None;
    for field in fields {
        let (name, value) = field.split_once(':').ok_or(Bad("a field has a name and a colon"))?;
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(Bad("a field's name is one word at the beginning of a line"));
        }
        let name = name.to_ascii_lowercase();
        let value = value.trim_matches([' ', '\t']);
        match name.as_str() {
            "transfer-encoding" => return Err(Bad("say how long the body is: this proxy takes no body in chunks")),
            "content-length" => {
                let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                let length = value.parse().ok().filter(|_| is_number && body.is_none());
                body = Some(length.ok_or(Bad("content-length is one number, and said once"))?);
            }
            name if NOT_PASSED_ON.contains(&name) => continue,
            _ => {}
        }
        // Writing to a string does not fail.
        let _ = write!(head, "{name}: {value}\r\n");
    }
    Ok(body.unwrap_or(0))
}

fn authority(text: &str, default: Option<u16>) -> Result<(String, u16), Bad> {
    const BAD: Bad = Bad("a host is a name or an address, and a port after a colon");
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            (host, port.parse().ok().filter(|_| is_number))
        }
        _ => (text, default),
    };
    match port {
        Some(port) if port > 0 && !host.is_empty() && !host.contains('@') => Ok((host.to_owned(), port)),
        _ => Err(BAD),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(head: &str) -> Result<Request, Bad> {
        Request::parse(head.replace('\n', "\r\n").as_bytes())
    }

    #[test]
    fn a_tunnel_is_to_a_host_and_a_port() {
        let tunnel = |host: &str, port| Ok(Request { host: host.to_owned(), port, kind: Kind::Tunnel });
        assert_eq!(parse("CONNECT example.com:443 HTTP/1.1\nHost: other\n\n"), tunnel("example.com", 443));
        assert_eq!(parse("CONNECT [::1]:443 HTTP/1.1\n\n"), tunnel("[::1]", 443));
        for target in
            ["example.com", "example.com:", "example.com:0", "example.com:x", "a@b:443", "::1", ":443", "a:+443"]
        {
            assert!(parse(&format!("CONNECT {target} HTTP/1.1\n\n")).is_err(), "{target}");
        }
    }

    /// A server that has many names must not hear another than the one that was judged.
    #[test]
    fn a_plain_request_goes_on_with_the_host_that_was_judged() {
        let request = parse(
            "POST HTTP://Example.com:8080/a?b=c#d HTTP/1.1\nHost: other.example\nproxy-authorization: secret\n\
             Accept: */*\nConnection: keep-alive, x\nContent-Length: 5\n\n",
        );
        let head =
            "POST /a?b=c HTTP/1.1\nHost: Example.com:8080\nConnection: close\naccept: */*\ncontent-length: 5\n\n";
        let kind = Kind::Plain { head: head.replace('\n', "\r\n"), body: 5 };
        assert_eq!(request, Ok(Request { host: "Example.com".to_owned(), port: 8080, kind }));
        let bare = parse("GET http://example.com?x HTTP/1.0\n\n").expect("a request");
        assert!(matches!(bare.kind, Kind::Plain { head, body: 0 } if head.starts_with("GET /?x HTTP/1.1\r\n")));
        assert_eq!((bare.host.as_str(), bare.port), ("example.com", 80));
    }

    #[test]
    fn what_two_readers_could_understand_differently_is_refused() {
        for head in [
            "GET / HTTP/1.1\nHost: example.com\n\n",
            "GET https://example.com/ HTTP/1.1\n\n",
            "GET file:///etc/passwd HTTP/1.1\n\n",
            "GET http://user@example.com/ HTTP/1.1\n\n",
            "GET http://example.com@evil/ HTTP/1.1\n\n",
            "GET http:// HTTP/1.1\n\n",
            "GET  http://example.com/ HTTP/1.1\n\n",
            "GET http://example.com/ HTTP/2.0\n\n",
            "GET http://example.com/ HTTP/1.1\n folded: x\n\n",
            "GET http://example.com/ HTTP/1.1\nname : x\n\n",
            "GET http://example.com/ HTTP/1.1\nno colon\n\n",
            "POST http://example.com/ HTTP/1.1\nContent-Length: 5\nContent-Length: 6\n\n",
            "POST http://example.com/ HTTP/1.1\nContent-Length: +5\n\n",
            "POST http://example.com/ HTTP/1.1\nTransfer-Encoding: chunked\n\n",
            "POST http://example.com/ HTTP/1.1\nx: a\rContent-Length: 5\n\n",
            "GET http://example.com/ HTTP/1.1\nx: \0\n\n",
        ] {
            assert!(parse(head).is_err(), "{head:?}");
        }
        assert!(
            Request::parse(b"GET http://example.com/ HTTP/1.1\nHost: a\r\n\r\n").is_err(),
            "a line that ends early"
        );
    }
}
