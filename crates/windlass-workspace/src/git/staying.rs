//! What of a commit stays where the work is drawn on top of it, because no snapshot has it: what a sparse checkout leaves out, what is
//! tracked under the names of the runtime's own files, and submodules. A snapshot has the files of a submodule and not its commit; where
//! they are that commit's, it stays a submodule, and where they are not, its files are drawn, so that nothing of the work is hidden.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use windlass_domain::{Digest, Wall};

use super::at_work::Patience;
use super::index::{Committed, committed, left_out};
use super::program::Git;
use super::stream::Stream;
use crate::error::Error;
use crate::layout::RUNTIME_FILES;
use crate::materialise::read_tree;
use crate::snapshots::Snapshots;
use crate::tree::Mode;

pub(super) struct Drawing<'a> {
    pub snapshots: &'a Snapshots,
    pub git: &'a Git<'a>,
    pub reference: &'a str,
    pub patience: Patience<'a>,
}

#[derive(Debug, Default)]
pub(super) struct Staying {
    /// Submodules that are what they were.
    pub links: BTreeSet<PathBuf>,
    /// What goes; `None`: everything.
    pub gone: Option<Vec<PathBuf>>,
}

impl Drawing<'_> {
    /// Of `parent`, below a work that is `tree`.
    pub fn staying(&self, parent: &str, tree: Digest) -> Result<Staying, Error> {
        let workspace = self.snapshots.workspace();
        let left_out = left_out(self.git, workspace)?;
        let (mut links, mut gone, mut stays) = (BTreeSet::new(), Vec::new(), false);
        for Committed { path, link } in committed(self.git, workspace, parent)? {
            if left_out.contains(&path) || is_the_runtimes(&path) {
                stays = true;
                continue;
            }
            match link {
                Some(commit) if self.is_unchanged(&path, &commit, tree)? => _ = links.insert(path),
                _ => gone.push(path),
            }
        }
        Ok(Staying { gone: (stays || !links.is_empty()).then_some(gone), links })
    }

    /// Whether what `tree` has at `path` is what the submodule's `commit` has, or nothing because nobody has checked it out.
    fn is_unchanged(&self, path: &Path, commit: &str, tree: Digest) -> Result<bool, Error> {
        let Some(folder) = self.folder_at(path, tree)? else { return Ok(false) };
        if read_tree(self.snapshots.objects(), folder)?.is_empty() {
            return Ok(true);
        }
        let Some(submodule) = Git::of_submodule(&self.snapshots.workspace().join(path), self.patience) else {
            return Ok(false);
        };
        let Some(theirs) = submodule.tree_of(commit)? else { return Ok(false) };
        Ok(self.drawn_alone(folder)? == Some(theirs))
    }

    fn folder_at(&self, path: &Path, tree: Digest) -> Result<Option<Digest>, Error> {
        let mut here = tree;
        for name in path {
            let nodes = read_tree(self.snapshots.objects(), here)?;
            let Some(node) = nodes.into_iter().find(|node| node.name == name && node.mode == Mode::Folder) else {
                return Ok(None);
            };
            here = node.digest;
        }
        Ok(Some(here))
    }

    /// What git calls a folder: only git knows, and has to have it to tell.
    fn drawn_alone(&self, folder: Digest) -> Result<Option<String>, Error> {
        let reference = format!("{}-submodule", self.reference);
        // One that a crash left would be gone on with.
        if self.git.resolve(&reference)?.is_some() {
            self.git.forget(&reference)?;
        }
        self.git.import(|out| {
            let mut stream = self.stream(out, BTreeSet::new());
            stream.write(b"feature done\n")?;
            stream.commit(&reference, None, "", Wall::default())?;
            stream.whole(folder)?;
            stream.done().map(drop)
        })?;
        let drawn = self.git.tree_of(&reference)?;
        self.git.forget(&reference)?;
        Ok(drawn)
    }

    pub fn stream<'a, Out: Write>(&'a self, out: Out, staying: BTreeSet<PathBuf>) -> Stream<'a, Out> {
        Stream { objects: self.snapshots.objects(), out, should_stop: self.patience.should_stop, staying }
    }
}

fn is_the_runtimes(path: &Path) -> bool {
    path.iter().next().is_some_and(|first| RUNTIME_FILES.iter().any(|name| first == *name))
}
