//! The Brave Search API, which wants a key and answers at most twenty results at once.

use serde::Deserialize;
use windlass_domain::Secret;

use super::engine::{Asked, Hit, SearchEngine, below, escaped, parsed, secret_header};
use crate::web::location::Location;

/// What it answers at once, at most.
const MOST: usize = 20;

pub struct Brave;

#[derive(Deserialize)]
struct Answer {
    web: Option<Web>,
}

#[derive(Deserialize)]
struct Web {
    #[serde(default)]
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    url: String,
    title: Option<String>,
    description: Option<String>,
}

impl SearchEngine for Brave {
    fn home(&self) -> Option<&'static str> {
        Some("https://api.search.brave.com")
    }

    fn needs_key(&self) -> bool {
        true
    }

    fn ask(&self, base: &Location, key: Option<&Secret>, query: &str, count: usize) -> Result<Asked, String> {
        let rest = format!("/res/v1/web/search?count={}&q={}", count.min(MOST), escaped(query));
        let mut asked = Asked::get(below(base, &rest));
        if let Some(key) = key {
            asked.headers.insert("x-subscription-token", secret_header(key.expose().trim())?);
        }
        Ok(asked)
    }

    fn read(&self, body: &[u8]) -> Result<Vec<Hit>, String> {
        let hit = |found: Found| Hit {
            title: found.title.unwrap_or_default(),
            url: found.url,
            snippet: found.description.unwrap_or_default(),
        };
        let web = parsed::<Answer>(body)?.web;
        Ok(web.into_iter().flat_map(|web| web.results).map(hit).collect())
    }
}
