//! Putting paths of a folder back as a snapshot has them, and telling which were not so: how a check's protected files
//! are made what they were before an agent could touch them. Every way to be different counts: other bytes, another
//! kind, the executable bit, missing, or there without being in the snapshot.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use windlass_domain::Digest;

use crate::ages::Age;
use crate::error::Error;
use crate::files::{DEEPEST, names, open_folder, remove_all};
use crate::materialise::{Filling, Made, read_tree};
use crate::path::{WorkspacePath, shown};
use crate::paths::Paths;
use crate::root::open_trusted;
use crate::snapshots::never_kept;
use crate::stat::Kind;
use crate::tree::{Mode, Node};

pub(crate) fn restore(
    filling: &Filling<'_>,
    tree: Digest,
    paths: &Paths,
    folder: &Path,
    carry: &[WorkspacePath],
) -> Result<Vec<String>, Error> {
    let top = open_trusted(folder).map_err(|errno| Error::ours("the folder to restore", errno.into()))?;
    let mut restoring = Restoring { filling, paths, carry, differed: Vec::new() };
    restoring.below(read_tree(filling.objects, tree)?, &top, Path::new(""), 0)?;
    Ok(restoring.differed)
}

struct Restoring<'a> {
    filling: &'a Filling<'a>,
    paths: &'a Paths,
    carry: &'a [WorkspacePath],
    differed: Vec<String>,
}

impl Restoring<'_> {
    /// `nodes` is what the snapshot has here; nothing, where it has no such folder.
    fn below(&mut self, nodes: Vec<Node>, folder: &OwnedFd, path: &Path, depth: usize) -> Result<(), Error> {
        if depth > DEEPEST {
            return Err(Error::TooDeep { path: shown(path), cap: DEEPEST });
        }
        let found = names(folder).map_err(|errno| Error::from_errno(shown(path), errno))?;
        let mut here: BTreeMap<OsString, (Option<Node>, Option<Kind>)> = BTreeMap::new();
        for (name, kind) in found {
            here.entry(name).or_default().1 = Some(kind);
        }
        for node in nodes {
            let pair = here.entry(node.name.clone()).or_default();
            pair.0 = Some(node);
        }
        for (name, (node, kind)) in here {
            let place = Spot { folder, path: path.join(&name), name, depth };
            if !self.has_no_snapshot(&place.path) {
                self.entry(node, kind, &place)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, node: Option<Node>, kind: Option<Kind>, spot: &Spot<'_>) -> Result<(), Error> {
        let meant = self.paths.contain(&spot.path);
        match node {
            Some(node) if node.mode == Mode::Folder => self.folder(&node, kind, meant, spot),
            Some(node) if meant => self.leaf(&node, kind, spot),
            None if meant => {
                self.report(spot);
                spot.remove()
            }
            _ if kind == Some(Kind::Folder) => match spot.enter()? {
                Some(inner) => self.below(Vec::new(), &inner, &spot.path, spot.depth + 1),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn folder(&mut self, node: &Node, kind: Option<Kind>, meant: bool, spot: &Spot<'_>) -> Result<(), Error> {
        let nodes = read_tree(self.filling.objects, node.digest)?;
        let there = if kind == Some(Kind::Folder) { spot.enter()? } else { None };
        let inner = match there {
            Some(inner) => inner,
            None if meant || self.means_any_of(&nodes, &spot.path)? => {
                self.report(spot);
                if kind.is_some() {
                    spot.remove()?;
                }
                spot.make(self.filling, node)?
            }
            None => return Ok(()),
        };
        self.below(nodes, &inner, &spot.path, spot.depth + 1)
    }

    fn leaf(&mut self, node: &Node, kind: Option<Kind>, spot: &Spot<'_>) -> Result<(), Error> {
        if kind.is_some() {
            match self.filling.is_as(node, spot.folder, &spot.path) {
                Ok(true) => return Ok(()),
                Err(Error::Stopped) => return Err(Error::Stopped),
                Ok(false) | Err(_) => spot.remove()?,
            }
        }
        self.report(spot);
        self.filling.make(node, Age::Unchanged, spot.folder, &spot.path).map(drop)
    }

    /// Whether anything in this part of the snapshot is to be restored.
    fn means_any_of(&self, nodes: &[Node], path: &Path) -> Result<bool, Error> {
        for node in nodes {
            let path = path.join(&node.name);
            let deeper = node.mode == Mode::Folder
                && self.means_any_of(&read_tree(self.filling.objects, node.digest)?, &path)?;
            if deeper || self.paths.contain(&path) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_no_snapshot(&self, path: &Path) -> bool {
        never_kept().any(|name| path == Path::new(name)) || self.carry.iter().any(|carried| path == carried.as_path())
    }

    fn report(&mut self, spot: &Spot<'_>) {
        self.differed.push(shown(&spot.path));
    }
}

/// One name in the folder at hand.
struct Spot<'a> {
    folder: &'a OwnedFd,
    name: OsString,
    path: PathBuf,
    depth: usize,
}

impl Spot<'_> {
    fn enter(&self) -> Result<Option<OwnedFd>, Error> {
        match open_folder(self.folder, Path::new(&self.name)) {
            Ok(inner) => Ok(Some(inner)),
            Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => Ok(None),
            Err(other) => Err(self.error(other)),
        }
    }

    fn remove(&self) -> Result<(), Error> {
        remove_all(self.folder, Path::new(&self.name)).map_err(|errno| self.error(errno))
    }

    fn make(&self, filling: &Filling<'_>, node: &Node) -> Result<OwnedFd, Error> {
        match filling.make(node, Age::Unchanged, self.folder, &self.path)? {
            Made::Folder(inner) => Ok(inner),
            Made::Leaf => Err(Error::NotAFolder { path: shown(&self.path) }),
        }
    }

    fn error(&self, errno: Errno) -> Error {
        Error::from_errno(shown(&self.path), errno)
    }
}
