//! Two changes of one tree, name by name. What only one side changed is that side's; what both changed alike is one change;
//! a text that both changed is merged by lines. Everything else is a conflict, and one conflict is no tree: the caller keeps
//! what it has. A file that moved is one removed and one added, so that a move on one side and an edit on the other conflict.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use windlass_domain::Digest;

use super::lines::{self, Lines};
use crate::error::Error;
use crate::files::DEEPEST;
use crate::materialise::read_tree;
use crate::objects::{Batch, Objects};
use crate::path::shown;
use crate::stream::ShouldStop;
use crate::tree::{Mode, Node, encode};

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged<Tree> {
    Clean(Tree),
    /// At least one, by path.
    Conflicts(Vec<Conflict>),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conflict {
    /// Relative to the workspace, on one line.
    pub path: String,
    pub kind: Disagreement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Disagreement {
    #[error("both changed the same lines")]
    Lines,
    #[error("both changed it, and it is not a text whose lines could be compared")]
    Opaque,
    #[error("both added it, with different content")]
    BothAdded,
    #[error("one changed it and the other removed it")]
    ChangedAndRemoved,
    #[error("the two made different things of it: a file, a folder, a link")]
    Kind,
}

/// The three versions of a folder; one that a side does not have is empty there.
#[derive(Clone, Copy)]
struct Folders {
    base: Option<Digest>,
    ours: Option<Digest>,
    theirs: Option<Digest>,
}

pub(crate) fn merge(
    objects: &Objects,
    batch: &mut Batch<'_>,
    [base, ours, theirs]: [Digest; 3],
    should_stop: ShouldStop<'_>,
) -> Result<Merged<Digest>, Error> {
    let mut merging = Merging { objects, batch, should_stop, conflicts: Vec::new() };
    let tree =
        merging.folder(Folders { base: Some(base), ours: Some(ours), theirs: Some(theirs) }, Path::new(""), 0)?;
    if merging.conflicts.is_empty() {
        return Ok(Merged::Clean(tree));
    }
    merging.conflicts.sort();
    Ok(Merged::Conflicts(merging.conflicts))
}

struct Merging<'a, 'b> {
    objects: &'a Objects,
    batch: &'a mut Batch<'b>,
    should_stop: ShouldStop<'a>,
    conflicts: Vec<Conflict>,
}

impl Merging<'_, '_> {
    fn folder(&mut self, Folders { base, ours, theirs }: Folders, path: &Path, depth: usize) -> Result<Digest, Error> {
        if depth > DEEPEST {
            return Err(Error::TooDeep { path: shown(path), cap: DEEPEST });
        }
        let nodes = |tree: Option<Digest>| tree.map_or_else(|| Ok(Vec::new()), |tree| read_tree(self.objects, tree));
        let (base, ours, theirs) = (nodes(base)?, nodes(ours)?, nodes(theirs)?);
        let names: BTreeSet<&OsString> = [&base, &ours, &theirs].into_iter().flatten().map(|node| &node.name).collect();
        let mut kept = Vec::new();
        for name in names {
            let path = path.join(name);
            kept.extend(self.node(find(&base, name), find(&ours, name), find(&theirs, name), path, depth)?);
        }
        self.batch.put(&encode(&kept))
    }

    /// What stands under a name afterwards, if anything does.
    fn node(
        &mut self,
        base: Option<&Node>,
        ours: Option<&Node>,
        theirs: Option<&Node>,
        path: PathBuf,
        depth: usize,
    ) -> Result<Option<Node>, Error> {
        self.should_stop.heed()?;
        if ours == theirs || base == theirs {
            return Ok(ours.cloned());
        }
        if base == ours {
            return Ok(theirs.cloned());
        }
        let folder = |node: Option<&Node>| node.filter(|node| node.mode == Mode::Folder).map(|node| node.digest);
        let is_folder_or_gone = |node: Option<&Node>| node.is_none_or(|node| node.mode == Mode::Folder);
        if [base, ours, theirs].into_iter().all(is_folder_or_gone) {
            let folders = Folders { base: folder(base), ours: folder(ours), theirs: folder(theirs) };
            let digest = self.folder(folders, &path, depth + 1)?;
            // What is left of it is nothing that anybody made.
            return Ok((digest != Digest::of(&encode(&[]))).then(|| named(&path, Mode::Folder, digest)));
        }
        if let (Some(base), Some(ours), Some(theirs)) = (base, ours, theirs)
            && [base, ours, theirs].into_iter().all(is_file)
        {
            return self.file(base, ours, theirs, &path);
        }
        self.give_up(base, ours, theirs, &path);
        Ok(None)
    }

    /// The bytes and the executable bit, each by itself.
    fn file(&mut self, base: &Node, ours: &Node, theirs: &Node, path: &Path) -> Result<Option<Node>, Error> {
        let mode = if base.mode == ours.mode { theirs.mode } else { ours.mode };
        let digest = if base.digest == ours.digest || ours.digest == theirs.digest {
            theirs.digest
        } else if base.digest == theirs.digest {
            ours.digest
        } else {
            let read = |node: &Node| self.objects.read(node.digest);
            match lines::merge(&read(base)?, &read(ours)?, &read(theirs)?) {
                Lines::Merged(bytes) => self.batch.put(&bytes)?,
                Lines::Conflict => return Ok(self.conflict(path, Disagreement::Lines)),
                Lines::Opaque => return Ok(self.conflict(path, Disagreement::Opaque)),
            }
        };
        Ok(Some(named(path, mode, digest)))
    }

    fn give_up(&mut self, base: Option<&Node>, ours: Option<&Node>, theirs: Option<&Node>, path: &Path) {
        let kind = match (base, ours, theirs) {
            (Some(_), None, _) | (Some(_), _, None) => Disagreement::ChangedAndRemoved,
            (None, Some(ours), Some(theirs)) if ours.mode == theirs.mode => Disagreement::BothAdded,
            _ => Disagreement::Kind,
        };
        self.conflict(path, kind);
    }

    fn conflict(&mut self, path: &Path, kind: Disagreement) -> Option<Node> {
        self.conflicts.push(Conflict { path: shown(path), kind });
        None
    }
}

fn find<'a>(nodes: &'a [Node], name: &OsString) -> Option<&'a Node> {
    nodes.binary_search_by(|node| node.name.cmp(name)).ok().map(|found| &nodes[found])
}

const fn is_file(node: &Node) -> bool {
    matches!(node.mode, Mode::File | Mode::Executable)
}

fn named(path: &Path, mode: Mode, digest: Digest) -> Node {
    Node { name: path.file_name().unwrap_or_default().to_owned(), mode, digest }
}
