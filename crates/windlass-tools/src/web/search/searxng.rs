//! SearXNG, a search engine that one runs oneself. Its settings must list `json` under `search.formats`.

use serde::Deserialize;
use windlass_domain::Secret;

use super::engine::{Asked, Hit, SearchEngine, below, escaped, parsed};
use crate::web::location::Location;

pub struct SearXng;

#[derive(Deserialize)]
struct Answer {
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    url: String,
    title: Option<String>,
    content: Option<String>,
}

impl SearchEngine for SearXng {
    fn home(&self) -> Option<&'static str> {
        None
    }

    fn needs_key(&self) -> bool {
        false
    }

    fn ask(&self, base: &Location, _: Option<&Secret>, query: &str, _: usize) -> Result<Asked, String> {
        Ok(Asked::get(below(base, &format!("/search?format=json&q={}", escaped(query)))))
    }

    fn read(&self, body: &[u8]) -> Result<Vec<Hit>, String> {
        let hit = |found: Found| Hit {
            title: found.title.unwrap_or_default(),
            url: found.url,
            snippet: found.content.unwrap_or_default(),
        };
        Ok(parsed::<Answer>(body)?.results.into_iter().map(hit).collect())
    }
}
