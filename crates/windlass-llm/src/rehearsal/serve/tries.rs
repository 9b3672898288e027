//! How often the same request has come. Only turns with faults before them are counted, and a turn that was answered starts
//! again, so that a script can be played twice on one server.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Mutex, PoisonError};

/// Requests that failed and never came back are forgotten when there are too many of them.
const MOST_REMEMBERED: usize = 100_000;

#[derive(Debug, Default)]
pub struct Tries {
    failed: Mutex<BTreeMap<u64, u32>>,
}

impl Tries {
    pub fn of(&self, path: &str, body: &[u8]) -> Try<'_> {
        let mut hasher = DefaultHasher::new();
        hasher.write(path.as_bytes());
        hasher.write(body);
        let key = hasher.finish();
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        Try { tries: self, key, attempt: failed.unwrap_or(0) }
    }
}

#[derive(Debug)]
pub struct Try<'t> {
    tries: &'t Tries,
    key: u64,
    pub attempt: u32,
}

impl Try<'_> {
    pub fn failed(&self) {
        let mut failed = self.tries.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.len() >= MOST_REMEMBERED {
            failed.clear();
        }
        *failed.entry(self.key).or_default() += 1;
    }

    pub fn answered(&self) {
        self.tries.failed.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
