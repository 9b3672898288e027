//! The port to the files an attempt works on: snapshots by content, and putting one back. Blocking; whoever calls it
//! does so through `Runtime::block`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

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
#[error("{0}")]
pub struct WorkspaceError(pub String);

pub trait Workspace: Send + Sync {
    /// A baseline: the workspace as it is, with the ignore rules that hold in it now.
    fn capture(&self) -> Result<TreeId, WorkspaceError>;

    /// A candidate: the workspace as it is, under the ignore rules of `baseline`, whatever its files say by now.
    fn capture_under(&self, baseline: TreeId) -> Result<Candidate, WorkspaceError>;

    /// Writes a snapshot into an empty folder.
    fn materialise(&self, tree: TreeId, folder: &Path) -> Result<(), WorkspaceError>;

    /// Puts `paths` in `folder` back as `tree` has them, and says which were not as they should be.
    fn restore(&self, tree: TreeId, paths: &[String], folder: &Path) -> Result<Vec<String>, WorkspaceError>;
}
