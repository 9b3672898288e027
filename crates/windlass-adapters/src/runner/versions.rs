//! What a program says of its version, asked once in a process for as long as the program is the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use windlass_sandbox::{Command, Sandbox, discard, never};

use crate::Adapter;

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

/// What it prints for `--version`; nothing where it says none, does not start or takes longer. `program` is a path inside the sandbox.
pub async fn ask_version(
    adapter: &dyn Adapter,
    sandbox: &dyn Sandbox,
    program: &Path,
    patience: Duration,
) -> Option<String> {
    let mut command = Command::new([program.as_os_str().to_owned(), "--version".into()]);
    command.timeout = patience;
    let exit = sandbox.run(command, &mut discard, never()).await.ok()?;
    adapter.version(&String::from_utf8_lossy(&exit.stdout)).map(str::to_owned)
}
