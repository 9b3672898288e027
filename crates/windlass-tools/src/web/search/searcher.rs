//! Asking the engine that the operator configured, and making its answer fit to be read: short, on one line each, and without
//! the key whatever the engine says.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{Runtime, Secret};

use super::engine::{Asked, Hit, SearchEngine};
use crate::web::client::{Client, Limits, Question};
use crate::web::dialer::Dialer;
use crate::web::location::Location;
use crate::web::plain::plain;
use crate::web::tls::Tls;

const LIMITS: Limits = Limits { time: Duration::from_secs(20), body_bytes: 2 * 1024 * 1024 };
const LONGEST_TITLE: usize = 200;
const LONGEST_SNIPPET: usize = 400;
const LONGEST_URL: usize = 1_000;
const LONGEST_COMPLAINT: usize = 300;

pub struct Searcher {
    engine: Box<dyn SearchEngine>,
    base: Location,
    key: Option<Secret>,
    client: Client,
}

/// What an operator has to mend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEngine {
    #[error("`base_url` is needed: say where it runs, such as http://localhost:8888")]
    NoAddress,
    #[error("`base_url`: {0}")]
    Address(String),
    #[error("`key_env` is needed: name the variable that holds the key")]
    NoKey,
}

impl Searcher {
    pub fn new(
        engine: Box<dyn SearchEngine>,
        base_url: Option<&str>,
        key: Option<Secret>,
        dialer: Arc<dyn Dialer>,
        runtime: Arc<dyn Runtime>,
    ) -> Result<Self, BadEngine> {
        let base = base_url.or(engine.home()).ok_or(BadEngine::NoAddress)?;
        let base = Location::parse(base).map_err(BadEngine::Address)?;
        if engine.needs_key() && key.is_none() {
            return Err(BadEngine::NoKey);
        }
        let client = Client { dialer, runtime, tls: Arc::new(Tls::default()) };
        Ok(Self { engine, base, key, client })
    }

    /// Where queries go.
    pub fn door(&self) -> String {
        self.base.door()
    }

    /// What was found, best first; or why nothing was, for a model.
    pub async fn search(&self, query: &str, count: usize) -> Result<Vec<Hit>, String> {
        let found = self.ask(query, count).await;
        found.map_err(|why| format!("the search engine cannot be used: {}", self.without_key(&why)))
    }

    async fn ask(&self, query: &str, count: usize) -> Result<Vec<Hit>, String> {
        let Asked { method, location, headers, body } = self.engine.ask(&self.base, self.key.as_ref(), query, count)?;
        let question = Question { method, location: &location, headers, body };
        let answer = self.client.ask(question, LIMITS).await?;
        if !(200..300).contains(&answer.status) {
            let said = plain(&String::from_utf8_lossy(&answer.body), LONGEST_COMPLAINT);
            return Err(format!("it answered {}: {said}", answer.status));
        }
        if answer.is_cut {
            return Err(format!("its answer is larger than {} bytes", LIMITS.body_bytes));
        }
        let hits = self.engine.read(&answer.body)?;
        let is_web = |hit: &Hit| hit.url.len() <= LONGEST_URL && Location::parse(&hit.url).is_ok();
        let shown = |text: &str, longest| plain(&self.without_key(text), longest);
        let shown = |hit: Hit| Hit {
            title: shown(&hit.title, LONGEST_TITLE),
            url: shown(&hit.url, LONGEST_URL),
            snippet: shown(&hit.snippet, LONGEST_SNIPPET),
        };
        Ok(hits.into_iter().filter(is_web).take(count).map(shown).collect())
    }

    fn without_key(&self, text: &str) -> String {
        match self.key.as_ref().map(|key| key.expose().trim()).filter(|key| !key.is_empty()) {
            Some(key) => text.replace(key, "[key]"),
            None => text.to_owned(),
        }
    }
}
