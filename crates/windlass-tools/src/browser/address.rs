//! Where a browser may be: a page of the web, or a file of the workspace. Everything else that a browser knows (`javascript:`,
//! `data:`, `chrome:`, other files) is no place for an agent to go to.

use crate::web::Location;

const LONGEST: usize = 4_000;
const WORKSPACE: &str = "/workspace";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Web { url: String, location: Location },
    File { url: String },
}

impl Place {
    /// As a model writes it.
    pub fn parse(url: &str) -> Result<Self, String> {
        let url = url.trim();
        if url.len() > LONGEST {
            return Err(format!("`url`: it is longer than {LONGEST} letters"));
        }
        match scheme(url).as_deref() {
            Some("http" | "https") => {
                let location = Location::parse(url).map_err(|why| format!("`url`: {why}"))?;
                Ok(Self::Web { url: url.to_owned(), location })
            }
            Some("file") if is_in_workspace(url) => Ok(Self::File { url: url.to_owned() }),
            Some("file") => Err("`url`: only files below file:///workspace/ can be opened".to_owned()),
            _ => Err("`url`: it must begin with https://, http:// or file:///workspace/".to_owned()),
        }
    }

    pub fn url(&self) -> &str {
        match self {
            Self::Web { url, .. } | Self::File { url } => url,
        }
    }
}

/// In lower case, without the colon.
pub(super) fn scheme(url: &str) -> Option<String> {
    let (scheme, _) = url.split_once(':')?;
    let is_scheme = scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    (is_scheme && !scheme.is_empty()).then(|| scheme.to_ascii_lowercase())
}

/// The host and port that a request of the browser goes to. What cannot be told goes nowhere.
pub(super) fn server(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let Location { host, port, .. } = Location::parse(&format!("{scheme}://{authority}/")).ok()?;
    Some((host, port))
}

/// Whether a `file:` address is below the workspace, however it is spelled.
pub(super) fn is_in_workspace(url: &str) -> bool {
    let Some((_, rest)) = url.split_once(':') else { return false };
    let Some(path) = rest.strip_prefix("//") else { return false };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let Some(path) = unescaped(path) else { return false };
    let below = path.strip_prefix(WORKSPACE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    below && !path.contains(['\\', '\0']) && !path.split('/').any(|part| matches!(part, "." | ".."))
}

/// `None` where it is not well formed, or hides a slash.
fn unescaped(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        let byte = u8::try_from(digit()? * 16 + digit()?).ok()?;
        if byte == b'/' {
            return None;
        }
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_files_of_the_workspace_are_places() {
        for url in [
            "https://example.org",
            " http://example.org:8080/a?b#/c ",
            "file:///workspace",
            "file:///workspace/a%20b.html?x#y",
        ] {
            assert_eq!(Place::parse(url).map(|place| place.url().to_owned()), Ok(url.trim().to_owned()));
        }
    }

    #[test]
    fn nothing_else_is() {
        for url in [
            "",
            "example.org",
            "/workspace/a.html",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "data:text/html,x",
            "chrome://version",
            "about:blank",
            "view-source:https://example.org",
            "blob:https://example.org/1",
            "ftp://example.org",
            "https://user:secret@example.org",
            "file:///etc/passwd",
            "file:///workspace-evil/a",
            "file:///workspace/../etc/passwd",
            "file:///workspace/%2e%2E/etc/passwd",
            "file:///workspace/..%2fetc/passwd",
            "file:///workspace/%5c../a",
            "file:///workspace/a%00",
            "file:///workspace/%zz",
            "file:///workspace/%e9",
            "file://host/workspace/a",
            "file:/workspace/a",
            "file:workspace/a",
        ] {
            assert!(Place::parse(url).is_err(), "{url}");
        }
        assert!(Place::parse(&format!("https://example.org/{}", "x".repeat(LONGEST))).is_err());
    }

    #[test]
    fn a_request_names_its_server() {
        let at = |host: &str, port| Some((host.to_owned(), port));
        assert_eq!(server("https://Example.org/a|{b}\"?x"), at("example.org", 443));
        assert_eq!(server("http://[::1]:81"), at("::1", 81));
        assert_eq!(server("http://a\\@b/"), at("a", 80));
        for url in ["http://", "http:///x", "data:x", "http://a@b/"] {
            assert_eq!(server(url), None, "{url}");
        }
    }
}
