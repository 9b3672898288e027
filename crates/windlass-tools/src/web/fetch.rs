//! Fetching a page: redirects followed, each hop dialled and judged as the first one was; the answer unpacked, decoded and
//! made readable. Time and size are bounded for the whole of it.
//!
//! A redirect to another host is told and not followed. Leave was given for one host; a page that forwards whatever it is
//! asked to would otherwise carry words to any other. Whoever asked can ask again, and is judged again.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, header};
use windlass_domain::Runtime;

use super::client::{Answer, Client, Limits, Question};
use super::decode::{ACCEPTED, declared_in_html, text, unpacked};
use super::dialer::Dialer;
use super::html::{Readable, readable};
use super::location::Location;
use super::tls::Tls;

#[derive(Debug, Clone, Copy)]
pub struct FetchLimits {
    pub bytes: usize,
    pub time: Duration,
    pub redirects: usize,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self { bytes: 5 * 1024 * 1024, time: Duration::from_secs(30), redirects: 5 }
    }
}

pub struct Fetcher {
    client: Client,
    limits: FetchLimits,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Fetched {
    Page(Page),
    /// What was asked for is at another host.
    Elsewhere {
        from: String,
        to: String,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub struct Page {
    /// Where the last redirect led.
    pub address: String,
    pub status: u16,
    /// Empty where there is none.
    pub title: String,
    pub text: String,
    /// There was more than was read.
    pub is_cut: bool,
}

impl Fetcher {
    pub fn new(dialer: Arc<dyn Dialer>, runtime: Arc<dyn Runtime>, tls: Arc<Tls>, limits: FetchLimits) -> Self {
        Self { client: Client { dialer, runtime, tls }, limits }
    }

    /// The page, or why there is none, for a model.
    pub async fn fetch(&self, location: &Location, most_bytes: Option<usize>) -> Result<Fetched, String> {
        let most_bytes = most_bytes.unwrap_or(usize::MAX).min(self.limits.bytes);
        match self.follow(location.clone(), most_bytes).await? {
            Followed::Elsewhere(from, to) => Ok(Fetched::Elsewhere { from: from.to_string(), to: to.to_string() }),
            Followed::Answered(location, answer) => {
                // Unpacking and reading are work, and others wait for this thread.
                let read = self.client.runtime.blocking(move || page(&location, answer, most_bytes)).await;
                read.map(Fetched::Page)
            }
        }
    }

    async fn follow(&self, mut location: Location, most_bytes: usize) -> Result<Followed, String> {
        let runtime = &self.client.runtime;
        let deadline = runtime.now() + self.limits.time;
        for _ in 0..=self.limits.redirects {
            let limits = Limits { time: deadline - runtime.now(), body_bytes: most_bytes };
            let question = Question { headers: headers(), ..Question::get(&location) };
            let answer = self.client.ask(question, limits).await?;
            let target = matches!(answer.status, 301 | 302 | 303 | 307 | 308)
                .then(|| answer.headers.get(header::LOCATION))
                .flatten();
            let Some(target) = target else { return Ok(Followed::Answered(location, answer)) };
            let target = target.to_str().map_err(|_| "the redirect leads to what is no address".to_owned())?;
            let next = location.join(target).map_err(|why| format!("a redirect cannot be followed: {why}"))?;
            if !is_same_site(&location, &next) {
                return Ok(Followed::Elsewhere(location, next));
            }
            location = next;
        }
        Err(format!("there were more than {} redirects, the last to {}", self.limits.redirects, location.host))
    }
}

enum Followed {
    Answered(Location, Answer),
    Elsewhere(Location, Location),
}

/// The same host, give or take a `www.`, at the same port, give or take encryption: who listens elsewhere on it may be another.
fn is_same_site(one: &Location, other: &Location) -> bool {
    let bare = |at: &Location| at.host.strip_prefix("www.").unwrap_or(&at.host).trim_end_matches('.').to_owned();
    let is_of_the_web = |at: &Location| matches!(at.port, 80 | 443);
    bare(one) == bare(other) && (one.port == other.port || (is_of_the_web(one) && is_of_the_web(other)))
}

fn headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    let accept = "text/html, text/markdown, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5";
    headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers
}

/// What a body is to be read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    Text,
    /// Nobody said.
    Unknown,
}

fn page(location: &Location, answer: Answer, most_bytes: usize) -> Result<Page, String> {
    let Answer { status, headers, body, is_cut } = answer;
    let content_type = joined(&headers, header::CONTENT_TYPE);
    let kind = kind(&content_type)?;
    let (bytes, is_cut_too) = unpacked(body, &joined(&headers, header::CONTENT_ENCODING), most_bytes)?;
    let declared = charset(&content_type).or_else(|| declared_in_html(&bytes).filter(|_| kind != Kind::Text));
    let whole =
        text(bytes, declared.as_deref()).map_err(|what| format!("it is {what}, which cannot be shown as text"))?;
    let is_html = match kind {
        Kind::Html => true,
        Kind::Text => false,
        Kind::Unknown => looks_like_html(&whole),
    };
    let Readable { title, text } = match is_html {
        true => readable(&whole, &location.to_string()),
        false => Readable { title: String::new(), text: whole },
    };
    Ok(Page { address: location.to_string(), status, title, text, is_cut: is_cut || is_cut_too })
}

fn joined(headers: &HeaderMap, name: header::HeaderName) -> String {
    let all = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    all.collect::<Vec<_>>().join(",")
}

fn kind(content_type: &str) -> Result<Kind, String> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "" => Ok(Kind::Unknown),
        "text/html" | "application/xhtml+xml" => Ok(Kind::Html),
        "application/json"
        | "application/xml"
        | "application/javascript"
        | "application/ecmascript"
        | "application/yaml"
        | "application/x-yaml"
        | "application/toml"
        | "application/sql"
        | "application/graphql"
        | "application/x-sh"
        | "application/x-ndjson" => Ok(Kind::Text),
        other if other.starts_with("text/") || other.ends_with("+json") || other.ends_with("+xml") => Ok(Kind::Text),
        "application/pdf" => {
            Err("it is a PDF document, which cannot be shown as text here; look for an HTML version".to_owned())
        }
        other => Err(format!("it is of the type `{}`, which cannot be shown as text", other.escape_debug())),
    }
}

fn charset(content_type: &str) -> Option<String> {
    let parameter = |part: &str| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().to_owned())
    };
    content_type.split(';').skip(1).find_map(parameter)
}

fn looks_like_html(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(15).collect::<String>().to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}
