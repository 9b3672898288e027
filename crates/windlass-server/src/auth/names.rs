//! The names that the server goes by. A web page of others can have a browser of this machine ask anything of it, by its address or
//! by a name of the page's own that leads here (DNS rebinding): so whoever asks must call it by a name of its own, and a browser
//! that says where the page came from must name this very server.

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName};

const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Besides those of this machine's own loopback.
    hosts: Vec<String>,
}

/// Why a request is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    Host,
    Page,
}

impl Names {
    pub fn new(hosts: Vec<String>) -> Self {
        Self { hosts }
    }

    pub(crate) fn judge(&self, headers: &HeaderMap) -> Result<(), Foreign> {
        let host = only(headers, &HOST).ok_or(Foreign::Host)?.unwrap_or_default();
        if !self.goes_by(host) {
            return Err(Foreign::Host);
        }
        let origin = only(headers, &ORIGIN).ok_or(Foreign::Page)?;
        let site = only(headers, &SEC_FETCH_SITE).ok_or(Foreign::Page)?;
        let is_ours = origin.is_none_or(|origin| is_of(origin, host));
        // `none`: a person typed the address.
        let is_direct = site.is_none_or(|site| matches!(site, "same-origin" | "none"));
        if is_ours && is_direct { Ok(()) } else { Err(Foreign::Page) }
    }

    /// Whether somebody follows a link of another page's to here: the browser shows what comes and tells the other page nothing of it.
    pub(crate) fn is_followed_link(&self, headers: &HeaderMap) -> bool {
        let says = |name: &HeaderName, word| only(headers, name).flatten() == Some(word);
        let is_followed = says(&SEC_FETCH_MODE, "navigate") && says(&SEC_FETCH_DEST, "document");
        let host = only(headers, &HOST).flatten();
        is_followed && !headers.contains_key(ORIGIN) && host.is_some_and(|host| self.goes_by(host))
    }

    fn goes_by(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let is_listed = |ours: &String| ours.eq_ignore_ascii_case(name) || ours.eq_ignore_ascii_case(host);
        ["127.0.0.1", "[::1]"].contains(&name)
            || name.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(is_listed)
    }
}

fn is_of(origin: &str, host: &str) -> bool {
    let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    name.is_some_and(|name| name.eq_ignore_ascii_case(host))
}

/// The header's one value; none at all where it is there twice or cannot be read.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Some(None),
        (Some(value), None) => value.to_str().ok().map(Some),
        (Some(_), Some(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(said: &[(&'static str, &str)], expect: Result<(), Foreign>) {
        let mut headers = HeaderMap::new();
        for (name, value) in said {
            headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).expect("a header"));
        }
        let names = Names::new(vec!["windlass.example".to_owned()]);
        assert_eq!(names.judge(&headers), expect, "{said:?}");
    }

    #[test]
    fn the_server_is_called_by_a_name_of_its_own() {
        for ours in
            ["127.0.0.1:7117", "localhost", "LocalHost:80", "[::1]:7117", "windlass.example", "windlass.example:443"]
        {
            check(&[("host", ours)], Ok(()));
        }
        let foreign = [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example:7117",
            "0.0.0.0:7117",
            "",
            "evil.example:127.0.0.1",
        ];
        for host in foreign {
            check(&[("host", host)], Err(Foreign::Host));
        }
        check(&[], Err(Foreign::Host));
        check(&[("host", "localhost"), ("host", "localhost")], Err(Foreign::Host));
    }

    #[test]
    fn a_page_of_others_is_not_heard() {
        let host = ("host", "localhost:7117");
        check(&[host, ("origin", "http://localhost:7117")], Ok(()));
        check(&[host, ("origin", "https://localhost:7117"), ("sec-fetch-site", "same-origin")], Ok(()));
        check(&[host, ("sec-fetch-site", "none")], Ok(()));
        let foreign =
            ["http://evil.example", "http://localhost:8080", "http://localhost", "null", "", "http://localhost:7117/"];
        for origin in foreign {
            check(&[host, ("origin", origin)], Err(Foreign::Page));
        }
        for site in ["cross-site", "same-site", ""] {
            check(&[host, ("sec-fetch-site", site)], Err(Foreign::Page));
        }
        let ours = ("origin", "http://localhost:7117");
        check(&[host, ours, ours], Err(Foreign::Page));
    }

    #[test]
    fn a_link_of_others_may_be_followed_and_nothing_else_of_theirs() {
        let host = ("host", "localhost:7117");
        let (site, mode, dest) =
            (("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"));
        let check = |said: &[(&'static str, &str)], expect: bool| {
            let said =
                said.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("a header")));
            assert_eq!(Names::default().is_followed_link(&said.collect()), expect);
        };
        check(&[host, site, mode, dest], true);
        check(&[host, site, mode], false);
        check(&[host, site, mode, ("sec-fetch-dest", "iframe")], false);
        check(&[host, site, ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "script")], false);
        check(&[("host", "evil.example"), site, mode, dest], false);
        check(&[host, site, mode, dest, ("origin", "http://evil.example")], false);
    }
}
