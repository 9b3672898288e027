//! What a program says of its version, asked once in a process for as long as the program is the same.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Clone, Default)]
pub struct Versions(Arc<Mutex<BTreeMap<Key, String>>>);

/// A program as it is installed now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub program: PathBuf,
    /// Changes when the program does.
    pub stamp: u128,
}

impl Versions {
    pub fn known(&self, key: &Key) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub fn learn(&self, key: Key, version: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, version);
    }
}
