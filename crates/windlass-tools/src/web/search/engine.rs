//! What a search engine is, and what all of them need.

use http::{HeaderMap, HeaderValue, Method, header};
use serde::de::DeserializeOwned;
use windlass_domain::Secret;

use crate::web::location::Location;

pub trait SearchEngine: Send + Sync {
    /// Where it is unless the operator says otherwise; one without such a place must be told.
    fn home(&self) -> Option<&'static str>;

    /// Whether it answers only who has a key.
    fn needs_key(&self) -> bool;

    /// `base` is the operator's address or the engine's home.
    fn ask(&self, base: &Location, key: Option<&Secret>, query: &str, count: usize) -> Result<Asked, String>;

    fn read(&self, body: &[u8]) -> Result<Vec<Hit>, String>;
}

/// A request to be made.
pub struct Asked {
    pub method: Method,
    pub location: Location,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub title: String,
    pub url: String,
    pub snippet: String,
}

impl Asked {
    pub fn get(location: Location) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        Self { method: Method::GET, location, headers, body: Vec::new() }
    }
}

/// The address with `rest` after whatever path it has.
pub fn below(base: &Location, rest: &str) -> Location {
    let path = base.path.split('?').next().unwrap_or_default().trim_end_matches('/');
    Location { path: format!("{path}{rest}"), ..base.clone() }
}

/// As it may stand in a query string.
pub fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// A header that no debug output shows.
pub fn secret_header(value: &str) -> Result<HeaderValue, String> {
    let bad = |_| "its key holds characters that no key has".to_owned();
    let mut header = HeaderValue::from_str(value).map_err(bad)?;
    header.set_sensitive(true);
    Ok(header)
}

pub fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|_| "its answer is not what its API promises".to_owned())
}
