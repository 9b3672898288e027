//! What a program says of its version, asked once for as long as the program is the same, and kept in a file for the processes to come: to ask some of
//! them takes a second.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use windlass_sandbox::{Command, Sandbox, discard, never};

use crate::Adapter;

/// More than this is no version.
const LONGEST: usize = 100;

#[derive(Debug, Clone, Default)]
pub struct Versions {
    seen: Arc<Mutex<BTreeMap<Key, String>>>,
    file: Option<Arc<Path>>,
}

/// A program as it is installed now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub program: PathBuf,
    /// Changes when the program does.
    pub stamp: String,
}

/// What is kept of a program.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    stamp: String,
    version: String,
}

impl Versions {
    /// Kept in this file besides. One that cannot be read or written is done without.
    pub fn kept_in(file: PathBuf) -> Self {
        Self { seen: Arc::default(), file: Some(file.into()) }
    }

    pub fn known(&self, key: &Key) -> Option<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        seen.or_else(|| {
            let kept = self.kept().remove(&key.program)?;
            (kept.stamp == key.stamp).then_some(kept.version)
        })
    }

    pub fn learn(&self, key: &Key, version: String) -> String {
        let mut kept = self.kept();
        kept.insert(key.program.clone(), Kept { stamp: key.stamp.clone(), version: version.clone() });
        let _it_is_asked_again = self.keep(&kept);
        self.learn_nothing(key, version)
    }

    /// What it says now, where something else is kept of it: a file that starts another one stays the same whatever becomes of that.
    pub fn correct(&self, key: &Key, version: &str) {
        if self.known(key).is_some_and(|known| known != version) {
            self.learn(key, version.to_owned());
        }
    }

    /// It says none: this process does not ask again, and the next one does.
    pub fn learn_nothing(&self, key: &Key, instead: String) -> String {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), instead.clone());
        instead
    }

    fn kept(&self) -> BTreeMap<PathBuf, Kept> {
        let bytes = self.file.as_ref().and_then(|file| std::fs::read(file).ok());
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Whoever reads half of it, or not what another has learned at the same time, asks again.
    fn keep(&self, kept: &BTreeMap<PathBuf, Kept>) -> std::io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        std::fs::write(file, serde_json::to_vec(kept)?)
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
    let printed = String::from_utf8_lossy(&exit.stdout);
    adapter.version(&printed).filter(|version| version.len() <= LONGEST).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(stamp: &str) -> Key {
        Key { program: PathBuf::from("/bin/agent"), stamp: stamp.to_owned() }
    }

    #[test]
    fn what_was_seen_is_known_to_the_next_process_until_the_program_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("versions.json");
        let first = Versions::kept_in(file.clone());
        assert_eq!(first.known(&key("a")), None);
        first.learn(&key("a"), "1.2.3".to_owned());
        let next = Versions::kept_in(file.clone());
        assert_eq!((next.known(&key("a")).as_deref(), next.known(&key("b"))), (Some("1.2.3"), None));
        next.learn(&key("b"), "2.0.0".to_owned());
        assert_eq!(Versions::kept_in(file.clone()).known(&key("b")).as_deref(), Some("2.0.0"));
        std::fs::write(&file, "{ half").expect("written");
        assert_eq!(Versions::kept_in(file).known(&key("b")), None);
    }

    #[test]
    fn what_is_kept_is_corrected_and_nothing_else_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("versions.json");
        let versions = Versions::kept_in(file.clone());
        versions.correct(&key("a"), "1.2.3");
        assert_eq!((versions.known(&key("a")), file.exists()), (None, false));
        versions.learn(&key("a"), "1.2.3".to_owned());
        versions.correct(&key("a"), "1.2.4");
        assert_eq!(Versions::kept_in(file).known(&key("a")).as_deref(), Some("1.2.4"));
    }

    #[test]
    fn one_that_says_none_is_asked_again_by_the_next_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("versions.json");
        let first = Versions::kept_in(file.clone());
        first.learn_nothing(&key("a"), "unknown".to_owned());
        assert_eq!(first.known(&key("a")).as_deref(), Some("unknown"));
        assert_eq!(Versions::kept_in(file).known(&key("a")), None);
    }
}
