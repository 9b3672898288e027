//! One reference, and the steps that are drawn on it. Drawing is by the tree that the reference is believed to stand at: a step
//! that was drawn before a crash is drawn again as a step without a difference.

use std::io::Write as _;
use std::path::PathBuf;

use windlass_domain::{TreeId, Wall};

use super::index::{committed, left_out};
use super::program::Git;
use super::stream::Stream;
use crate::diff::differences;
use crate::error::Error;
use crate::snapshots::Snapshots;
use crate::stream::ShouldStop;

/// Below `refs/windlass/`, so that no branch, tag or fetch ever meets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitReference(String);

impl GitReference {
    /// `parts` are ids: plain words.
    pub fn new(parts: &[&str]) -> Option<Self> {
        let is_plain = |part: &&str| {
            !part.is_empty()
                && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_'))
        };
        (!parts.is_empty() && parts.iter().all(is_plain)).then(|| Self(format!("refs/windlass/{}", parts.join("/"))))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A tree that the work came to, and why.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    pub tree: TreeId,
    /// What the reference stands at; none where it is to begin, on top of what the user has checked out.
    pub after: Option<TreeId>,
    pub message: &'a str,
    pub at: Wall,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drawn {
    Yes {
        commit: String,
    },
    /// The workspace is no git repository.
    NoRepository,
}

impl Snapshots {
    pub fn draw(
        &self,
        reference: &GitReference,
        step: Step<'_>,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Drawn, Error> {
        let patience = self.patience(ShouldStop(should_stop));
        let Some(git) = Git::of(self.workspace(), patience) else { return Ok(Drawn::NoRepository) };
        let begun = git.resolve(reference.as_str())?;
        // A reference that somebody removed is begun again.
        let after = step.after.filter(|_| begun.is_some());
        let parent = match begun {
            Some(commit) => Some(commit),
            None => git.resolve("HEAD")?,
        };
        let tree = self.tree_of(step.tree)?;
        let changed = after.map(|after| differences(self.objects(), self.tree_of(after)?, tree)).transpose()?;
        let sparse = match (&changed, &parent) {
            (None, Some(parent)) => self.sparse(&git, parent)?,
            _ => None,
        };
        git.import(|out| {
            let mut stream = Stream { objects: self.objects(), out, should_stop: ShouldStop(should_stop) };
            stream.out.write_all(b"feature done\n").map_err(|error| Error::ours("git", error))?;
            stream.commit(reference.as_str(), parent.as_deref(), step.message, step.at)?;
            match (changed, sparse) {
                (None, Some(gone)) => stream.onto_parent(tree, &gone)?,
                (None, None) => stream.whole(tree)?,
                (Some(changed), _) => changed.iter().try_for_each(|difference| stream.difference(difference))?,
            }
            stream.done().map(drop)
        })?;
        let commit = git.resolve(reference.as_str())?;
        commit
            .map(|commit| Drawn::Yes { commit })
            .ok_or_else(|| Error::ours("git", std::io::Error::other("the reference is not there after it was drawn")))
    }

    /// Where a checkout leaves files out on purpose, the files of `parent` but for those: what is still there is drawn anew. `None`: all
    /// are checked out.
    fn sparse(&self, git: &Git<'_>, parent: &str) -> Result<Option<Vec<PathBuf>>, Error> {
        let left_out = left_out(git, self.workspace())?;
        if left_out.is_empty() {
            return Ok(None);
        }
        let committed = committed(git, self.workspace(), parent)?;
        Ok(Some(committed.into_iter().filter(|path| !left_out.contains(path)).collect()))
    }
}
