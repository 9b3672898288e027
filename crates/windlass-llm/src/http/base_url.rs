//! The address of a model server as people write it: with or without `/v1`, a trailing slash, or the whole endpoint.

use crate::error::Error;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    pub is_tls: bool,
    pub host: String,
    pub port: u16,
    /// For the `host` header.
    pub authority: String,
    /// Path and query of the endpoint.
    pub path: String,
}

impl BaseUrl {
    /// `endpoint` is what follows the version: `chat/completions`.
    pub fn parse(url: &str, endpoint: &str) -> Result<Self, Error> {
        let bad = |problem: &str| {
            // The address is not quoted: people put keys into it.
            Error::Misconfigured(format!("the model server's base URL {problem}; write it as http://localhost:4000"))
        };
        let uri = url.trim().parse::<http::Uri>().map_err(|error| bad(&format!("is not a URL ({error})")))?;
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(bad("does not begin with http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| bad("has no host"))?.as_str();
        if authority.contains('@') {
            return Err(bad("holds a user name or a key, which belong in the key's own variable"));
        }
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| bad("has no host"))?;
        Ok(Self {
            is_tls,
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
            authority: authority.to_owned(),
            path: endpoint_path(uri.path(), endpoint) + &uri.query().map_or(String::new(), |query| format!("?{query}")),
        })
    }

    /// Without the query, where a key might be.
    pub fn display(&self) -> String {
        let path = self.path.split('?').next().unwrap_or_default();
        format!("{}://{}{path}", if self.is_tls { "https" } else { "http" }, self.authority)
    }
}

fn endpoint_path(path: &str, endpoint: &str) -> String {
    let path = path.trim_end_matches('/');
    let names_a_version = |segment: &str| {
        segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    if path.ends_with(&format!("/{endpoint}")) {
        path.to_owned()
    } else if path.split('/').any(names_a_version) {
        format!("{path}/{endpoint}")
    } else {
        format!("{path}/v1/{endpoint}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_it_leads_to_the_endpoint() {
        let check = |url: &str, expect: &str| {
            assert_eq!(BaseUrl::parse(url, "chat/completions").expect(url).display(), expect, "{url}");
        };
        check("http://localhost:4000", "http://localhost:4000/v1/chat/completions");
        check(" http://localhost:4000/ ", "http://localhost:4000/v1/chat/completions");
        check("http://localhost:4000/v1", "http://localhost:4000/v1/chat/completions");
        check("https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1/chat/completions");
        check("https://host/v1beta/openai", "https://host/v1beta/openai/chat/completions");
        check("https://host/vendor", "https://host/vendor/v1/chat/completions");
        check("https://host/chat/completions", "https://host/chat/completions");
        check("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions");
    }

    #[test]
    fn host_port_and_query_are_kept() {
        let url = BaseUrl::parse("http://[::1]/v1?api-version=7", "chat/completions").expect("valid");
        assert_eq!((url.host.as_str(), url.port, url.is_tls), ("::1", 80, false));
        assert_eq!(url.path, "/v1/chat/completions?api-version=7");
        assert_eq!(BaseUrl::parse("https://h", "messages").expect("valid").port, 443);
    }

    #[test]
    fn what_is_wrong_is_said_without_quoting_a_key() {
        for url in ["localhost:4000", "ftp://h", "http://", "http://user:sk-secret@h/", "http://sk-secret h", ""] {
            let error = BaseUrl::parse(url, "messages").expect_err(url).to_string();
            assert!(!error.contains("sk-secret"), "{error}");
        }
    }
}
