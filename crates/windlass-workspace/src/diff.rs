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
use crate::tree::{Mode, Node};

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

pub(crate) fn changes(objects: &Objects, before: Digest, after: Digest) -> Result<Vec<Change>, Error> {
    let mut found = Vec::new();
    folders(objects, Some(before), Some(after), Path::new(""), &mut found)?;
    found.sort();
    Ok(found)
}

fn folders(
    objects: &Objects,
    before: Option<Digest>,
    after: Option<Digest>,
    path: &Path,
    found: &mut Vec<Change>,
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
    if pairs.is_empty() && before.is_none() != after.is_none() {
        record(path, before.is_some(), after.is_some(), found);
    }
    for (name, (old, new)) in pairs {
        pair(objects, old.as_ref(), new.as_ref(), path.join(name), found)?;
    }
    Ok(())
}

fn pair(
    objects: &Objects,
    old: Option<&Node>,
    new: Option<&Node>,
    path: PathBuf,
    found: &mut Vec<Change>,
) -> Result<(), Error> {
    let folder = |node: Option<&Node>| node.filter(|node| node.mode == Mode::Folder).map(|node| node.digest);
    let leaf = |node: Option<&Node>| node.filter(|node| node.mode != Mode::Folder).map(|node| (node.mode, node.digest));
    if leaf(old) != leaf(new) {
        record(&path, leaf(old).is_some(), leaf(new).is_some(), found);
    }
    folders(objects, folder(old), folder(new), &path, found)
}

fn record(path: &Path, was: bool, is: bool, found: &mut Vec<Change>) {
    let kind = match (was, is) {
        (false, true) => ChangeKind::Added,
        (true, false) => ChangeKind::Removed,
        _ => ChangeKind::Modified,
    };
    found.push(Change { path: shown(path), kind });
}
