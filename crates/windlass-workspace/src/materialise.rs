//! Putting a snapshot into an empty folder. Everything is made through descriptors and by
//! exclusive creation, so that nothing that is already there, a symlink least of all, is ever written through.
//!
//! A file that the live workspace still holds unchanged gets its modification time too: build tools compare times, and a
//! carried build folder would be worthless beside sources that all look new.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode as Permissions, OFlags, Timespec, Timestamps, futimens, mkdirat, openat, symlinkat};
use rustix::io::Errno;
use windlass_domain::Digest;

use crate::cache::Cache;
use crate::error::Error;
use crate::files::{DEEPEST, names, open_folder};
use crate::objects::Objects;
use crate::path::shown;
use crate::root::open_trusted;
use crate::stat::{Kind, Metadata, Timestamp};
use crate::tree::{Mode, Node, decode};

pub(crate) fn open_empty(folder: &Path) -> Result<OwnedFd, Error> {
    let error = |errno| Error::from_errno("the folder to fill", errno);
    std::fs::create_dir_all(folder).map_err(|source| Error::from_io("the folder to fill", source))?;
    let folder = open_trusted(folder).map_err(error)?;
    if names(&folder).map_err(error)?.is_empty() { Ok(folder) } else { Err(Error::NotEmpty) }
}

pub(crate) fn tree(objects: &Objects, tree: Digest, into: &OwnedFd, times: &Cache) -> Result<(), Error> {
    fill(objects, tree, into, &PathBuf::new(), times, 0)
}

fn fill(
    objects: &Objects,
    tree: Digest,
    into: &OwnedFd,
    path: &Path,
    times: &Cache,
    depth: usize,
) -> Result<(), Error> {
    if depth > DEEPEST {
        return Err(Error::TooDeep { path: shown(path), cap: DEEPEST });
    }
    for node in read_tree(objects, tree)? {
        let path = path.join(&node.name);
        let made = make(objects, &node, into, &path)?;
        match (node.mode, made) {
            (Mode::Folder, Made::Folder(inner)) => {
                fill(objects, node.digest, &inner, &path, times, depth + 1)?;
            }
            (Mode::File | Mode::Executable, Made::File(file)) => {
                if let Some(known) = times.get(&path).filter(|known| known.digest == node.digest) {
                    set_modified(&file, known.modified());
                }
            }
            _ => {}
        }
    }
    Ok(())
}

pub(crate) fn read_tree(objects: &Objects, tree: Digest) -> Result<Vec<Node>, Error> {
    decode(&objects.read(tree)?).ok_or_else(|| Error::Damaged { digest: tree.to_string() })
}

pub(crate) enum Made {
    File(File),
    Folder(OwnedFd),
    Symlink,
}

/// Makes one node where there is nothing yet; a folder is left empty.
pub(crate) fn make(objects: &Objects, node: &Node, into: &OwnedFd, path: &Path) -> Result<Made, Error> {
    let error = |errno| Error::from_errno(shown(path), errno);
    let name = Path::new(&node.name);
    match node.mode {
        Mode::File | Mode::Executable => {
            let permissions = if node.mode == Mode::Executable { 0o777 } else { 0o666 };
            let mut file = create(into, name, permissions).map_err(error)?;
            objects.copy(node.digest, &mut file)?;
            Ok(Made::File(file))
        }
        Mode::Symlink => {
            let target = objects.read(node.digest)?;
            symlinkat(target.as_slice(), into, name).map_err(error)?;
            Ok(Made::Symlink)
        }
        Mode::Folder => {
            mkdirat(into, name, Permissions::from_raw_mode(0o777)).map_err(error)?;
            open_folder(into, name).map(Made::Folder).map_err(error)
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

/// Whether `found`, read from a folder, is what `node` says.
pub(crate) fn is_as(node: &Node, folder: &OwnedFd) -> Result<bool, Errno> {
    let name = Path::new(&node.name);
    match node.mode {
        Mode::File | Mode::Executable => {
            let Some((mut file, metadata)) = crate::files::open_file(folder, name)? else {
                return Ok(false);
            };
            let digest =
                crate::hash::of_file(&mut file).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            Ok(digest == node.digest && metadata.is_executable() == (node.mode == Mode::Executable))
        }
        Mode::Symlink => match rustix::fs::readlinkat(folder, name, Vec::new()) {
            Ok(target) => Ok(Digest::of(target.as_bytes()) == node.digest),
            Err(Errno::INVAL) => Ok(false),
            Err(other) => Err(other),
        },
        Mode::Folder => Metadata::at(folder, name).map(|metadata| metadata.kind == Kind::Folder),
    }
}
