//! The port to the files an attempt works on: snapshots by content, and putting one back. Blocking; whoever calls it
//! does so through `Runtime::block`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// A whole tree of files, by what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeId(pub Digest);

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WorkspaceError(pub String);

pub trait Workspace: Send + Sync {
    /// Snapshots the workspace as it is.
    fn capture(&self) -> Result<TreeId, WorkspaceError>;

    /// Writes a snapshot into an empty folder.
    fn materialise(&self, tree: TreeId, folder: &Path) -> Result<(), WorkspaceError>;

    /// Puts `paths` in `folder` back as `tree` has them, and says which were not as they should be.
    fn restore(&self, tree: TreeId, paths: &[String], folder: &Path) -> Result<Vec<String>, WorkspaceError>;
}
