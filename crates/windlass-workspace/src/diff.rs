//! What differs between two snapshots. Equal folders have equal digests and are not looked into, so that the cost is that
//! of the difference.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use windlass_domain::Digest;

use crate::error::Error;
use crate::materialise::read_tree;
use crate::objects::Objects;
use crate::path::shown;
use crate::tree::{Mode, Node, encode};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// Relative to the workspace, on one line.
    pub path: String,
    pub kind: ChangeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    Added,
    Removed,
    /// Other bytes, another kind, or the executable bit.
    Modified,
}

/// A name that is not the same in both; folders are there for their own sake only where one side has none.
#[derive(Clone)]
pub(crate) struct Difference {
    pub path: PathBuf,
    pub before: Option<Node>,
    pub after: Option<Node>,
}

pub(crate) fn changes(objects: &Objects, before: Digest, after: Digest) -> Result<Vec<Change>, Error> {
    let mut found: Vec<Change> = differences(objects, before, after)?.iter().flat_map(change).collect();
    found.sort();
    Ok(found)
}

/// Parents before what is in them.
pub(crate) fn differences(objects: &Objects, before: Digest, after: Digest) -> Result<Vec<Difference>, Error> {
    let mut found = Vec::new();
    folders(objects, Some(before), Some(after), Path::new(""), &mut found)?;
    Ok(found)
}

fn folders(
    objects: &Objects,
    before: Option<Digest>,
    after: Option<Digest>,
    path: &Path,
    found: &mut Vec<Difference>,
) -> Result<(), Error> {
    if before == after {
        return Ok(());
    }
    let nodes = |tree: Option<Digest>| tree.map_or(Ok(Vec::new()), |tree| read_tree(objects, tree));
    let mut pairs: BTreeMap<OsString, (Option<Node>, Option<Node>)> = BTreeMap::new();
    for node in nodes(before)? {
        let pair = pairs.entry(node.name.clone()).or_default();
        pair.0 = Some(node);
    }
    for node in nodes(after)? {
        let pair = pairs.entry(node.name.clone()).or_default();
        pair.1 = Some(node);
    }
    for (name, (old, new)) in pairs {
        pair(objects, old, new, path.join(name), found)?;
    }
    Ok(())
}

fn pair(
    objects: &Objects,
    old: Option<Node>,
    new: Option<Node>,
    path: PathBuf,
    found: &mut Vec<Difference>,
) -> Result<(), Error> {
    let folder = |node: &Option<Node>| node.as_ref().filter(|node| node.mode == Mode::Folder).map(|node| node.digest);
    let (before, after) = (folder(&old), folder(&new));
    if old != new && (before.is_none() || after.is_none()) {
        found.push(Difference { path: path.clone(), before: old, after: new });
    }
    folders(objects, before, after, &path, found)
}

/// As it is told: a file and a folder of the same name are two things, and folders count where they are all there is.
fn change(Difference { path, before, after }: &Difference) -> impl Iterator<Item = Change> {
    let leaf = |node: &Option<Node>| node.as_ref().is_some_and(|node| node.mode != Mode::Folder);
    let folder = |node: &Option<Node>| node.as_ref().is_some_and(|node| node.mode == Mode::Folder && is_empty(node));
    let told = |was: bool, is: bool| match (was, is) {
        (false, true) => Some(ChangeKind::Added),
        (true, false) => Some(ChangeKind::Removed),
        (true, true) => Some(ChangeKind::Modified),
        (false, false) => None,
    };
    let kinds = [told(leaf(before), leaf(after)), told(folder(before), folder(after))];
    kinds.into_iter().flatten().map(|kind| Change { path: shown(path), kind })
}

fn is_empty(folder: &Node) -> bool {
    folder.digest == Digest::of(&encode(&[]))
}
