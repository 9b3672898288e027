//! What really happened, kept outside every process: each effect of a command is entered as it happens, and no crash takes
//! it back.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::executor::ProcessId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub process: ProcessId,
    /// Where; a workspace is one task's.
    pub folder: PathBuf,
    /// How often the world had changed by then.
    pub change: u64,
    pub effect: Effect,
}

/// One line at the end of one file of the workspace. A scenario never asks for the same effect twice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effect {
    pub file: String,
    pub text: String,
}

#[derive(Debug, Clone, Default)]
pub struct Ledger {
    entries: Arc<Mutex<Vec<Entry>>>,
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn enter(&self, entry: Entry) {
        self.lock().push(entry);
    }

    pub fn entries(&self) -> Vec<Entry> {
        self.lock().clone()
    }

    pub fn last_in(&self, folder: &Path) -> Option<Entry> {
        self.lock().iter().rev().find(|entry| entry.folder == folder).cloned()
    }
}
