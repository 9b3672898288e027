//! One reference, and the steps that are drawn on it. Drawing is by the tree that the reference is believed to stand at: a step
//! that was drawn before a crash is drawn again as a step without a difference.

use windlass_domain::{TreeId, Wall};

use super::program::Git;
use super::staying::{Drawing, Staying};
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
        let drawing = Drawing { snapshots: self, git: &git, reference: reference.as_str(), patience };
        let Staying { links, gone } = match &parent {
            Some(parent) => drawing.staying(parent, tree)?,
            None => Staying::default(),
        };
        let changed = after.map(|after| differences(self.objects(), self.tree_of(after)?, tree)).transpose()?;
        // A file of a submodule can only be drawn with all the others.
        let changed = changed.filter(|_| links.is_empty());
        git.import(|out| {
            let mut stream = drawing.stream(out, links);
            stream.write(b"feature done\n")?;
            stream.commit(reference.as_str(), parent.as_deref(), step.message, step.at)?;
            match (changed, gone) {
                (Some(changed), _) => changed.iter().try_for_each(|difference| stream.difference(difference))?,
                (None, Some(gone)) => stream.onto_parent(tree, &gone)?,
                (None, None) => stream.whole(tree)?,
            }
            stream.done().map(drop)
        })?;
        let commit = git.resolve(reference.as_str())?;
        commit
            .map(|commit| Drawn::Yes { commit })
            .ok_or_else(|| Error::ours("git", std::io::Error::other("the reference is not there after it was drawn")))
    }
}
