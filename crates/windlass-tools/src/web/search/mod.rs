//! Searching the web: one trait for the engines that an operator can configure, one file each, and a `Searcher` that asks the
//! configured one. Engines are pure: they say what to ask and read what comes.

mod brave;
mod engine;
mod searcher;
mod searxng;
mod tavily;

pub use brave::Brave;
pub use engine::{Asked, Hit, SearchEngine};
pub use searcher::{BadEngine, Searcher};
pub use searxng::SearXng;
pub use tavily::Tavily;
