//! Services outside that an operator has configured in `windlass.toml`, and the keys that go with them. A key stands in a
//! variable of the environment, never in the file; the file says in which.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use windlass_domain::{ContextService, Embedder, Runtime, Secret};
use windlass_llm::{ContextClient, ContextPatience, Embeddings, Endpoint};
use windlass_tools::web::search::{Brave, SearXng, SearchEngine, Searcher, Tavily};
use windlass_tools::web::{Anywhere, FetchLimits, Fetcher, Public, Tls, Web};

use crate::config::FileConfig;
use crate::exit::WrongUse;

/// `[embeddings]`: who says which memos mean the same.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingsConfig {
    /// OpenAI-compatible, with or without `/v1`.
    pub base_url: String,
    pub model: String,
    /// The variable that holds the key; local servers want none.
    pub key_env: Option<String>,
}

/// `[context_service]`: who says what is known about a task.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContextServiceConfig {
    pub url: Option<String>,
    /// The variable that holds the key, if it wants one.
    pub key_env: Option<String>,
}

/// `[web]`: whether agents may read the web.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebConfig {
    pub fetch: bool,
}

/// `[web_search]`: who searches it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSearchConfig {
    pub engine: EngineName,
    /// Needed for SearXNG, which one runs oneself.
    pub base_url: Option<String>,
    pub key_env: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineName {
    SearXng,
    Brave,
    Tavily,
}

/// The keys of services, by the variables that hold them.
#[derive(Clone, Default)]
pub struct Keys(BTreeMap<String, Secret>);

impl Keys {
    /// `look_up` reads a variable. One that a service is to use and that is not set is a mistake.
    pub fn read<'a>(
        named: impl Iterator<Item = &'a str>,
        look_up: impl Fn(&str) -> Option<String>,
        mut tell: impl FnMut(WrongUse),
    ) -> Self {
        let mut keys = BTreeMap::new();
        for name in named {
            match look_up(name) {
                Some(value) => drop(keys.insert(name.to_owned(), Secret::new(value))),
                None => tell(
                    WrongUse::new(format!("windlass.toml: `key_env` names {name}, which is not set"))
                        .hint(format!("set {name} to the key, or take `key_env` out")),
                ),
            }
        }
        Self(keys)
    }

    pub fn of(&self, key_env: Option<&String>) -> Option<Secret> {
        self.0.get(key_env?).cloned()
    }

    pub fn all(&self) -> impl Iterator<Item = &Secret> {
        self.0.values()
    }
}

pub fn embedder(
    config: Option<&EmbeddingsConfig>,
    keys: &Keys,
    runtime: &Arc<dyn Runtime>,
) -> Result<Option<Arc<dyn Embedder>>, WrongUse> {
    let Some(EmbeddingsConfig { base_url, model, key_env }) = config else { return Ok(None) };
    let endpoint = Endpoint { base_url: base_url.clone(), key: keys.of(key_env.as_ref()) };
    match Embeddings::new(endpoint, model.clone(), Arc::clone(runtime)) {
        Ok(embeddings) => Ok(Some(Arc::new(embeddings))),
        Err(error) => Err(WrongUse::new(format!("windlass.toml: [embeddings]: {error}"))),
    }
}

/// `url` is what holds of the file's word and the variable's.
pub fn context_service(
    url: Option<&String>,
    config: &ContextServiceConfig,
    keys: &Keys,
    runtime: &Arc<dyn Runtime>,
) -> Result<Option<Arc<dyn ContextService>>, WrongUse> {
    let Some(url) = url else { return Ok(None) };
    let endpoint = Endpoint { base_url: url.clone(), key: keys.of(config.key_env.as_ref()) };
    match ContextClient::new(endpoint, ContextPatience::default(), Arc::clone(runtime)) {
        Ok(client) => Ok(Some(Arc::new(client))),
        Err(error) => Err(WrongUse::new(format!("CONTEXT_SERVICE_URL: {error}")).hint("docs/context.md shows it")),
    }
}

pub fn web(file: &FileConfig, keys: &Keys, runtime: &Arc<dyn Runtime>) -> Result<Web, WrongUse> {
    let fetcher = file.web.fetch.then(|| {
        let dialer = Public::new(file.sandbox.allowed_hosts.hosts().clone());
        Arc::new(Fetcher::new(Arc::new(dialer), Arc::clone(runtime), Arc::new(Tls::default()), FetchLimits::default()))
    });
    let searcher = file.web_search.as_ref().map(|search| searcher(search, keys, runtime)).transpose()?;
    Ok(Web { fetcher, searcher })
}

fn searcher(config: &WebSearchConfig, keys: &Keys, runtime: &Arc<dyn Runtime>) -> Result<Arc<Searcher>, WrongUse> {
    let engine: Box<dyn SearchEngine> = match config.engine {
        EngineName::SearXng => Box::new(SearXng),
        EngineName::Brave => Box::new(Brave),
        EngineName::Tavily => Box::new(Tavily),
    };
    let key = keys.of(config.key_env.as_ref());
    // An operator's own engine may be anywhere, this machine included.
    let searcher = Searcher::new(engine, config.base_url.as_deref(), key, Arc::new(Anywhere), Arc::clone(runtime));
    searcher
        .map(Arc::new)
        .map_err(|bad| WrongUse::new(format!("windlass.toml: [web_search]: {bad}")).hint("docs/web.md shows it"))
}
