//! The port to the files an attempt works on: snapshots by content, and putting one back. Blocking; whoever calls it
//! does so through `Runtime::block`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::time::Wall;

/// A whole tree of files, by what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeId(pub Digest);

/// What an agent made of a baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub tree: TreeId,
    /// Every `.git` that the baseline did not have, outside of ignored folders: left out as all are, and told, since git
    /// run there by somebody else would obey it.
    pub new_repositories: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// `should_stop` said so.
    #[error("told to stop")]
    Stopped,
    /// Because of what is in it: too much, too deep, not readable. Whoever put it there can mend it, and is told how.
    #[error("{0}")]
    Unfit(String),
    #[error("{0}")]
    Failed(String),
}

/// What may take long asks `should_stop` for every file, and more often for large ones.
pub trait Workspace: Send + Sync {
    /// A baseline: the workspace as it is, with the ignore rules that hold in it now.
    fn capture(&self) -> Result<TreeId, WorkspaceError>;

    /// A candidate: the workspace as it is, under the ignore rules of `baseline`, whatever its files say by now. It is what
    /// its bytes are, whatever their times say.
    fn capture_under(&self, baseline: TreeId, should_stop: &dyn Fn() -> bool) -> Result<Candidate, WorkspaceError>;

    /// Writes a snapshot into an empty folder, as a copy `made` now. Which of its files look older than which is decided by
    /// how they differ from `baseline`, since an agent can give a file any time.
    fn materialise(
        &self,
        tree: TreeId,
        baseline: TreeId,
        folder: &Path,
        made: Wall,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<(), WorkspaceError>;

    /// Puts `paths` in `folder`, a copy `made` then, back as `tree` has them, and says which were not as they should be.
    fn restore(
        &self,
        tree: TreeId,
        paths: &[String],
        folder: &Path,
        made: Wall,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, WorkspaceError>;
}
