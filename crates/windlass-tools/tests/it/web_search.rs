//! `web_search`: recorded answers of the three engines, and what engines say when they are not well.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::json;
use tokio::net::TcpStream;
use windlass_domain::{BoxFuture, CallStatus, Reach, Secret};
use windlass_tools::web::search::{BadEngine, Brave, SearXng, SearchEngine, Searcher, Tavily};
use windlass_tools::web::{Dialer, FetchLimits, Fetcher, Tls};
use windlass_tools::{Confinement, Context, Kit, Toolset};

use crate::support::Bench;
use crate::web::{Act, Elsewhere, page};

const KEY: &str = "sk-verysecret-0123";

const SEARXNG: &str = r#"{"query": "rust", "results": [
    {"url": "https://www.rust-lang.org/", "title": "Rust", "content": "A language empowering everyone", "engine": "google", "score": 4.0},
    {"url": "ftp://example.org/", "title": "no page"},
    {"url": "https://doc.rust-lang.org/book/", "title": null, "content": null}], "answers": [], "infoboxes": []}"#;
const BRAVE: &str = r#"{"type": "search", "web": {"type": "search", "results": [
    {"title": "Rust", "url": "https://www.rust-lang.org/", "description": "A language <strong>empowering</strong> everyone &amp; all"}]}}"#;
const TAVILY: &str = r#"{"query": "rust", "answer": null, "results": [
    {"title": "Rust", "url": "https://www.rust-lang.org/", "content": "A language\n\nempowering everyone\u001b[2J", "score": 0.9}], "response_time": 1.1}"#;

/// Whatever it is asked for, the one server.
struct Straight(SocketAddr);

impl Dialer for Straight {
    fn connect<'a>(&'a self, _: &'a str, _: u16) -> BoxFuture<'a, Result<TcpStream, String>> {
        Box::pin(async move { TcpStream::connect(self.0).await.map_err(|error| error.to_string()) })
    }
}

fn searching(bench: &Bench, engine: Box<dyn SearchEngine>, act: Act) -> (Toolset, Arc<Elsewhere>) {
    let (context, elsewhere) = context(bench, engine, act);
    (Toolset::new(context, Kit::executor(Confinement::Sealed)), elsewhere)
}

fn context(bench: &Bench, engine: Box<dyn SearchEngine>, act: Act) -> (Context, Arc<Elsewhere>) {
    let elsewhere = Elsewhere::new(bench, vec![act]);
    let dialer = Arc::new(Straight(elsewhere.server()));
    let searcher =
        Searcher::new(engine, Some("http://search.test/base/"), Some(Secret::new(KEY)), dialer, bench.runtime());
    let mut context = bench.context();
    context.web.searcher = Some(Arc::new(searcher.unwrap()));
    (context, elsewhere)
}

/// This kit where the web can be searched and read.
pub fn configured(bench: &Bench, kit: Kit) -> Toolset {
    let (mut context, elsewhere) = context(bench, Box::new(SearXng), page("", SEARXNG));
    let dialer = Arc::new(Straight(elsewhere.server()));
    let fetcher = Fetcher::new(dialer, bench.runtime(), Arc::new(Tls::default()), FetchLimits::default());
    context.web.fetcher = Some(Arc::new(fetcher));
    Toolset::new(context, kit)
}

/// Tools whose search engine finds the same, whatever it is asked.
pub fn searxng(bench: &Bench) -> Toolset {
    searching(bench, Box::new(SearXng), page("", SEARXNG)).0
}

/// What the model is told, and what the engine was asked.
fn asked(engine: Box<dyn SearchEngine>, act: Act) -> (CallStatus, String, String) {
    let bench = Bench::new();
    let (tools, elsewhere) = searching(&bench, engine, act);
    let ran = bench.call_with(&tools, "web_search", &json!({ "query": "rust & \"c\"", "count": 3 }));
    let head = elsewhere.asked.lock().unwrap().concat();
    (ran.status, ran.content, head)
}

#[test]
fn it_is_not_there_unless_it_was_configured() {
    let bench = Bench::new();
    assert!(bench.error("web_search", &json!({ "query": "x" })).contains("there is no tool `web_search`"));
}

#[test]
fn searxng_is_asked_and_read() {
    let (status, text, head) = asked(Box::new(SearXng), page("", SEARXNG));
    let expected = "1. Rust\n   https://www.rust-lang.org/\n   A language empowering everyone\n2. \n   https://doc.rust-lang.org/book/\n";
    assert_eq!((status, text.as_str()), (CallStatus::Ok, expected));
    assert!(head.starts_with("GET /base/search?format=json&q=rust%20%26%20%22c%22 HTTP/1.1"), "{head}");
    assert!(!head.contains(KEY), "it has no use for one");
}

#[test]
fn brave_is_asked_and_read() {
    let (_, text, head) = asked(Box::new(Brave), page("", BRAVE));
    assert_eq!(text, "1. Rust\n   https://www.rust-lang.org/\n   A language empowering everyone & all\n");
    assert!(head.starts_with("GET /base/res/v1/web/search?count=3&q=rust%20"), "{head}");
    assert!(head.contains(&format!("x-subscription-token: {KEY}")), "{head}");
}

#[test]
fn tavily_is_asked_and_read() {
    let (_, text, head) = asked(Box::new(Tavily), page("", TAVILY));
    assert_eq!(text, "1. Rust\n   https://www.rust-lang.org/\n   A language empowering everyone[2J\n");
    assert!(
        head.starts_with("POST /base/search HTTP/1.1") && head.contains(&format!("authorization: Bearer {KEY}")),
        "{head}"
    );
}

#[test]
fn an_engine_that_echoes_the_key_is_told_without_it() {
    let echo = TAVILY.replace("A language", KEY);
    let (status, text, _) = asked(Box::new(Tavily), page("", &echo));
    assert!(status == CallStatus::Ok && text.contains("[key]") && !text.contains(KEY), "{text}");
}

#[test]
fn what_an_engine_says_when_it_is_not_well_is_told_without_the_key() {
    let engines: [fn() -> Box<dyn SearchEngine>; 3] = [|| Box::new(SearXng), || Box::new(Brave), || Box::new(Tavily)];
    for engine in engines {
        let check = |act: Act, expected: &str| {
            let (status, text, _) = asked(engine(), act);
            assert!(status == CallStatus::Error && text.contains(expected) && !text.contains(KEY), "{text}");
        };
        let refusal = format!("HTTP/1.1 401 X\r\n\r\n{{\"error\": \"bad key {KEY}\u{1b}[2J\"}}");
        check(Act::Say(refusal.into_bytes()), "answered 401: {\"error\": \"bad key [key][2J\"}");
        check(Act::Say(b"HTTP/1.1 429 X\r\n\r\n".to_vec()), "answered 429");
        check(page("", "<html>"), "not what its API promises");
        check(page("", "{\"results\": \"none\", \"web\": 7}"), "not what its API promises");
        check(Act::Say(Vec::new()), "did not answer");
        check(Act::Forever(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b' '; 65_536]), "larger than");
    }
    let (status, text, _) = asked(Box::new(SearXng), page("", "{\"results\": []}"));
    assert_eq!(
        (status, text.as_str()),
        (CallStatus::Ok, "Nothing was found for \"rust & \"c\"\". Use fewer or other words.")
    );
}

#[test]
fn the_query_goes_to_one_host_which_is_told_beforehand() {
    let bench = Bench::new();
    let (tools, _) = searching(&bench, Box::new(SearXng), page("", SEARXNG));
    let prepared = bench.prepare_with(&tools, "web_search", r#"{"query": "x"}"#).unwrap();
    assert_eq!(prepared.reach, Reach::Outside(Some("search.test:80".to_owned())));
    assert!(bench.error_with(&tools, "web_search", &json!({ "query": "x", "count": 0 })).contains("count"));
    assert!(bench.error_with(&tools, "web_search", &json!({ "query": "" })).contains("must not be empty"));
}

#[test]
fn an_engine_that_cannot_work_is_said_beforehand() {
    let bench = Bench::new();
    let made = |engine: Box<dyn SearchEngine>, base: Option<&str>, key: Option<&str>| {
        let dialer = Arc::new(Straight(SocketAddr::from(([127, 0, 0, 1], 9))));
        Searcher::new(engine, base, key.map(Secret::new), dialer, bench.runtime()).err()
    };
    assert_eq!(made(Box::new(SearXng), None, None), Some(BadEngine::NoAddress));
    assert!(matches!(made(Box::new(SearXng), Some("localhost:8888"), None), Some(BadEngine::Address(_))));
    assert_eq!(made(Box::new(Brave), None, None), Some(BadEngine::NoKey));
    assert_eq!(made(Box::new(Brave), None, Some(KEY)), None);
    assert_eq!(made(Box::new(Tavily), None, Some(KEY)), None);
}
