//! What was complained of: each thing once, for as long as it is so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::port::Journal;

/// Beyond them the first are forgotten, and would be said again.
const MOST_REMEMBERED: usize = 1_000;

pub struct Complaints {
    journal: Arc<dyn Journal>,
    said: Mutex<BTreeMap<String, String>>,
}

impl Complaints {
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Self { journal, said: Mutex::default() }
    }

    pub fn say(&self, about: &str, what: String) {
        let mut said = self.lock();
        if said.get(about) == Some(&what) {
            return;
        }
        self.journal.trouble(&what);
        said.insert(about.to_owned(), what);
        if said.len() > MOST_REMEMBERED {
            said.pop_first();
        }
    }

    /// Of a key that holds what it cannot be used as.
    pub fn say_wrong(&self, wrong: &Wrong) {
        self.say(&wrong.key, wrong.told());
    }

    /// It is said again should it be so again.
    pub fn mended(&self, is_mended: impl Fn(&str) -> bool) {
        self.lock().retain(|about, _| !is_mended(about));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A key that somebody has put something else in. It is in the way of what needs it and of nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub key: String,
    /// What it is, as Redis calls it.
    pub kind: String,
    pub wanted: &'static str,
    /// What does not go on meanwhile.
    pub waits: &'static str,
}

impl Wrong {
    pub fn told(&self) -> String {
        let Self { key, kind, wanted, waits } = self;
        format!("Redis: `{key}` is a {kind} and no {wanted}; until it is deleted (DEL {key}), {waits}")
    }
}
