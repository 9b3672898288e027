//! The port to the files an attempt works on: snapshots by content, putting one back, bringing together what two made of one,
//! and handing a result to whoever uses the folder. Blocking; whoever calls it does so through `Runtime::block`.

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

/// What came of bringing two changes of one tree together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merge {
    Clean(TreeId),
    /// At least one, by path: `path: what is the matter`.
    Conflicts(Vec<String>),
}

/// What became of bringing a result into the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    Done {
        /// Names that are other than they were.
        changed: usize,
    },
    /// With what was changed in the workspace meanwhile, as `Merge` tells it. Nothing was done.
    Conflicts(Vec<String>),
    /// Somebody changes this all the time, or another process is at it; some names may be done, and it can be done again.
    Busy { path: String },
}

/// A tree that the work came to, to be shown where people look at versions.
#[derive(Debug, Clone, Copy)]
pub struct Drawing<'a> {
    /// What it is to be found under, part by part: plain words of small letters, digits, `-` and `_`.
    pub name: &'a [&'a str],
    pub tree: TreeId,
    /// What stands there already; none where it is to begin, on top of what the user has.
    pub after: Option<TreeId>,
    pub message: &'a str,
    pub at: Wall,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drawn {
    Yes {
        /// What to look it up by.
        reference: String,
        /// Which version it is.
        commit: String,
    },
    /// The workspace keeps no versions.
    NoRepository,
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

    /// What `ours` and `theirs` made of `base`, together, under the base's ignore rules. Kept when it is clean.
    fn merge(
        &self,
        base: TreeId,
        ours: TreeId,
        theirs: TreeId,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Merge, WorkspaceError>;

    /// Brings into the workspace what `from` has become in `to`, while whoever works there goes on. Their changes since `from`
    /// stay. After a crash it is done again, and leads to the same.
    fn apply(
        &self,
        from: TreeId,
        to: TreeId,
        made: Wall,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Applied, WorkspaceError>;

    /// Every path that differs, in order.
    fn changes(&self, before: TreeId, after: TreeId) -> Result<Vec<String>, WorkspaceError>;

    /// Shows a tree under a name of its own. What the user has is not touched, and nothing is ever read back from it. Drawn
    /// again after a crash it is there once more without a difference.
    fn draw(&self, drawing: Drawing<'_>, should_stop: &dyn Fn() -> bool) -> Result<Drawn, WorkspaceError>;
}
