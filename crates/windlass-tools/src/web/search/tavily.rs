//! The Tavily search API, which wants a key and is asked with a POST.

use http::{HeaderValue, Method, header};
use serde::Deserialize;
use serde_json::json;
use windlass_domain::Secret;

use super::engine::{Asked, Hit, SearchEngine, below, parsed, secret_header};
use crate::web::location::Location;

pub struct Tavily;

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

impl SearchEngine for Tavily {
    fn home(&self) -> Option<&'static str> {
        Some("https://api.tavily.com")
    }

    fn needs_key(&self) -> bool {
        true
    }

    fn ask(&self, base: &Location, key: Option<&Secret>, query: &str, count: usize) -> Result<Asked, String> {
        let mut asked = Asked::get(below(base, "/search"));
        asked.method = Method::POST;
        asked.body = json!({ "query": query, "max_results": count }).to_string().into_bytes();
        asked.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = key {
            asked.headers.insert(header::AUTHORIZATION, secret_header(&format!("Bearer {}", key.expose().trim()))?);
        }
        Ok(asked)
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
