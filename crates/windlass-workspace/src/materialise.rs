//! Putting a snapshot into an empty folder. Everything is made through descriptors and by
//! exclusive creation, so that nothing that is already there, a symlink least of all, is ever written through.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode as Permissions, OFlags, Timespec, Timestamps, futimens, mkdirat, openat, symlinkat};
use rustix::io::Errno;
use windlass_domain::{Digest, Wall};

use crate::ages::Age;
use crate::error::Error;
use crate::files::{DEEPEST, make_private_folder, names, open_folder};
use crate::objects::Objects;
use crate::path::shown;
use crate::root::open_trusted;
use crate::stat::{Kind, Metadata, Timestamp};
use crate::stream::ShouldStop;
use crate::tree::{Mode, Node, decode};

pub(crate) fn open_empty(folder: &Path) -> Result<OwnedFd, Error> {
    let error = |errno: Errno| Error::ours("the folder to fill", errno.into());
    make_private_folder(folder).map_err(|source| Error::ours("the folder to fill", source))?;
    let folder = open_trusted(folder).map_err(error)?;
    if names(&folder).map_err(error)?.is_empty() { Ok(folder) } else { Err(Error::NotEmpty) }
}

/// Everything that is made for one copy.
#[derive(Clone, Copy)]
pub(crate) struct Filling<'a> {
    pub objects: &'a Objects,
    /// The time that the copy's files go by.
    pub made: Wall,
    pub should_stop: ShouldStop<'a>,
}

pub(crate) fn read_tree(objects: &Objects, tree: Digest) -> Result<Vec<Node>, Error> {
    decode(&objects.read(tree)?).ok_or_else(|| Error::Damaged { digest: tree.to_string() })
}

pub(crate) enum Made {
    Leaf,
    Folder(OwnedFd),
}

impl Filling<'_> {
    pub fn tree(&self, tree: Digest, baseline: Digest, into: &OwnedFd) -> Result<(), Error> {
        self.below(tree, Some(baseline), into, Path::new(""), 0)
    }

    /// `baseline` is the folder of the same path there, if it has one.
    fn below(
        &self,
        tree: Digest,
        baseline: Option<Digest>,
        into: &OwnedFd,
        path: &Path,
        depth: usize,
    ) -> Result<(), Error> {
        if depth > DEEPEST {
            return Err(Error::TooDeep { path: shown(path), cap: DEEPEST });
        }
        let nodes = read_tree(self.objects, tree)?;
        let other = match baseline {
            // Most folders are as they were, and need not be read twice.
            Some(baseline) if baseline != tree => Some(read_tree(self.objects, baseline)?),
            Some(_) => None,
            None => Some(Vec::new()),
        };
        let before = other.as_ref().unwrap_or(&nodes);
        for node in &nodes {
            let was = before.binary_search_by(|was| was.name.cmp(&node.name)).ok().map(|found| &before[found]);
            let path = path.join(&node.name);
            let age = match was {
                None => Age::Added,
                Some(was) if was == node => Age::Unchanged,
                Some(_) => Age::Changed,
            };
            if let Made::Folder(inner) = self.make(node, age, into, &path)? {
                let was = was.filter(|was| was.mode == Mode::Folder).map(|was| was.digest);
                self.below(node.digest, was, &inner, &path, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Makes one node where there is nothing yet; a folder is left empty.
    pub fn make(&self, node: &Node, age: Age, into: &OwnedFd, path: &Path) -> Result<Made, Error> {
        self.should_stop.heed()?;
        let error = |errno| Error::from_errno(shown(path), errno);
        let name = Path::new(&node.name);
        match node.mode {
            Mode::File | Mode::Executable => {
                let permissions = if node.mode == Mode::Executable { 0o777 } else { 0o666 };
                let file = create(into, name, permissions).map_err(error)?;
                self.objects.copy(node.digest, &file, self.should_stop)?;
                set_modified(&file, age.time(self.made));
                Ok(Made::Leaf)
            }
            Mode::Symlink => {
                let target = self.objects.read(node.digest)?;
                symlinkat(target.as_slice(), into, name).map_err(error)?;
                Ok(Made::Leaf)
            }
            Mode::Folder => {
                mkdirat(into, name, Permissions::from_raw_mode(0o777)).map_err(error)?;
                open_folder(into, name).map(Made::Folder).map_err(error)
            }
        }
    }

    /// Whether what bears `node`'s name in a folder is what it says.
    pub fn is_as(&self, node: &Node, folder: &OwnedFd, path: &Path) -> Result<bool, Error> {
        let error = |errno| Error::from_errno(shown(path), errno);
        let name = Path::new(&node.name);
        match node.mode {
            Mode::File | Mode::Executable => {
                let Some((mut file, metadata)) = crate::files::open_file(folder, name).map_err(error)? else {
                    return Ok(false);
                };
                let is_executable = metadata.is_executable() == (node.mode == Mode::Executable);
                // One that has another length need not be read, which may take long.
                if !is_executable || self.objects.size(node.digest)? != Some(metadata.size) {
                    return Ok(false);
                }
                crate::hash::of_file(&mut file, self.should_stop)
                    .map(|digest| digest == node.digest)
                    .map_err(|cut| cut.at(shown(path)))
            }
            Mode::Symlink => match rustix::fs::readlinkat(folder, name, Vec::new()) {
                Ok(target) => Ok(Digest::of(target.as_bytes()) == node.digest),
                Err(Errno::INVAL) => Ok(false),
                Err(other) => Err(error(other)),
            },
            Mode::Folder => Metadata::at(folder, name).map(|found| found.kind == Kind::Folder).map_err(error),
        }
    }
}

/// A new file, never one that is already there.
pub(crate) fn create(into: impl AsFd, name: &Path, permissions: u32) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(into, name, flags, Permissions::from_raw_mode(permissions)).map(File::from)
}

/// Best effort: a file system without times is no reason to fail.
pub(crate) fn set_modified(file: &File, time: Timestamp) {
    let time = Timespec { tv_sec: time.seconds, tv_nsec: time.nanoseconds.into() };
    let _ = futimens(file, &Timestamps { last_access: time, last_modification: time });
}
