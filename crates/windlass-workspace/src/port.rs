//! `Snapshots` as the `Workspace` port: the same, with outcomes and errors in the domain's words.

use std::io;
use std::path::Path;

use windlass_domain::{Applied, Candidate, Drawing, Drawn, Merge, TreeId, Wall, Workspace, WorkspaceError};

use crate::error::Error;
use crate::git::{self, GitReference, Step};
use crate::merge::{Conflict, Merged};
use crate::snapshots::{self, Snapshots};

impl Workspace for Snapshots {
    fn capture(&self) -> Result<TreeId, WorkspaceError> {
        Ok(self.capture()?)
    }

    fn capture_under(&self, baseline: TreeId, should_stop: &dyn Fn() -> bool) -> Result<Candidate, WorkspaceError> {
        Ok(self.capture_under(baseline, should_stop)?)
    }

    fn materialise(
        &self,
        tree: TreeId,
        baseline: TreeId,
        folder: &Path,
        made: Wall,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<(), WorkspaceError> {
        Ok(self.materialise(tree, baseline, folder, made, should_stop)?)
    }

    fn restore(
        &self,
        tree: TreeId,
        paths: &[String],
        folder: &Path,
        made: Wall,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, WorkspaceError> {
        Ok(self.restore(tree, paths, folder, made, should_stop)?)
    }

    fn merge(
        &self,
        base: TreeId,
        ours: TreeId,
        theirs: TreeId,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Merge, WorkspaceError> {
        Ok(match self.merge(base, ours, theirs, should_stop)? {
            Merged::Clean(tree) => Merge::Clean(tree),
            Merged::Conflicts(conflicts) => Merge::Conflicts(in_words(&conflicts)),
        })
    }

    fn apply(
        &self,
        from: TreeId,
        to: TreeId,
        made: Wall,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Applied, WorkspaceError> {
        Ok(match self.apply(from, to, made, should_stop)? {
            snapshots::Applied::Done { changed } => Applied::Done { changed },
            snapshots::Applied::Conflicts(conflicts) => Applied::Conflicts(in_words(&conflicts)),
            snapshots::Applied::Busy { path } => Applied::Busy { path },
        })
    }

    fn changes(&self, before: TreeId, after: TreeId) -> Result<Vec<String>, WorkspaceError> {
        let changes = self.changes(before, after)?;
        let mut paths: Vec<String> = changes.into_iter().map(|change| change.path).collect();
        // A file that became an empty folder is two changes of one path.
        paths.dedup();
        Ok(paths)
    }

    fn draw(&self, drawing: Drawing<'_>, should_stop: &dyn Fn() -> bool) -> Result<Drawn, WorkspaceError> {
        let Drawing { name, tree, after, message, at } = drawing;
        let reference = GitReference::new(name).ok_or_else(|| not_plain(name))?;
        let drawn = self.draw(&reference, Step { tree, after, message, at }, should_stop)?;
        Ok(match drawn {
            git::Drawn::Yes { commit } => Drawn::Yes { reference: reference.as_str().to_owned(), commit },
            git::Drawn::NoRepository => Drawn::NoRepository,
        })
    }
}

fn in_words(conflicts: &[Conflict]) -> Vec<String> {
    conflicts.iter().map(|Conflict { path, kind }| format!("{path}: {kind}")).collect()
}

fn not_plain(name: &[&str]) -> Error {
    let why = "is not made of small letters, digits, `-` and `_`";
    Error::ours(format!("`{}`", name.join("/").escape_debug()), io::Error::other(why))
}

impl From<Error> for WorkspaceError {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopped => Self::Stopped,
            error if error.is_about_content() => Self::Unfit(error.to_string()),
            error => Self::Failed(error.to_string()),
        }
    }
}
