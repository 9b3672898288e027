//! What of the web an execution can use; nothing, unless an operator says so.

use std::sync::Arc;

use super::fetch::Fetcher;
use super::search::Searcher;

#[derive(Clone, Default)]
pub struct Web {
    pub fetcher: Option<Arc<Fetcher>>,
    pub searcher: Option<Arc<Searcher>>,
}
