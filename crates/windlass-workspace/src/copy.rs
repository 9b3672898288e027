//! Copying files as they are: carried paths out of the live workspace, and a folder that is to be there several times.
//! What is copied may be an agent's, so every step is by descriptor and no symlink is followed; what is already there is
//! never overwritten. Modification times come along, since build tools compare them; pipes, sockets and devices do not.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode as Permissions, ioctl_ficlone, mkdirat, symlinkat};
use rustix::io::Errno;

use crate::error::Error;
use crate::files::{OPEN_FOLDER, open_folder};
use crate::folder::{Entry, Folder, Listing, Rules};
use crate::materialise::{create, open_empty, set_modified};
use crate::path::{WorkspacePath, shown};
use crate::root::{Root, open_trusted};
use crate::stat::{Kind, Metadata};

/// What becomes of a `.git` on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Git {
    LeftOut,
    Copied,
}

/// Copies all that is in a folder of the runtime's own into an empty or new one.
pub fn copy_folder(from: &Path, into: &Path) -> Result<(), Error> {
    let rules = Rules::none();
    let from = open_trusted(from).map_err(|errno| Error::from_errno("the folder to copy", errno))?;
    copy_entries(&Folder::top(from, &rules), &open_empty(into)?, Git::Copied)
}

/// Copies a path of the live workspace beside a snapshot. What is not there is not carried; what the snapshot has is not
/// overwritten. A `.git` comes along only where it is what `path` names: any other may be the agent's making.
pub(crate) fn carry(live: &Root, path: &WorkspacePath, into: &Path) -> Result<(), Error> {
    let rules = Rules::none();
    let mut from = Folder::top(live.open_beneath(&WorkspacePath::top(), OPEN_FOLDER)?, &rules);
    let parent = path.as_path().parent().unwrap_or(Path::new(""));
    for part in parent.components() {
        match from.enter(part.as_os_str())? {
            Some(inner) => from = inner,
            None => return Ok(()),
        }
    }
    let Some(name) = path.as_path().file_name() else {
        return Ok(());
    };
    let Some(entry) = from.named(name)? else {
        return Ok(());
    };
    let into = Root::open(into)?.protecting(Vec::<OsString>::new()).create_folders(parent, path)?;
    copy_entry(&from, &entry, &into, Git::LeftOut)
}

fn copy_entries(from: &Folder<'_>, into: &OwnedFd, git: Git) -> Result<(), Error> {
    let Listing { mut entries, git: found } = from.list()?;
    if git == Git::Copied {
        entries.extend(found);
    }
    entries.iter().try_for_each(|entry| copy_entry(from, entry, into, git))
}

fn copy_entry(from: &Folder<'_>, entry: &Entry, into: &OwnedFd, git: Git) -> Result<(), Error> {
    let error = |errno| Error::from_errno(shown(&entry.path), errno);
    let name = Path::new(&entry.name);
    match entry.kind {
        Kind::File => {
            let Some((file, metadata)) = from.open_file(entry)? else {
                return Ok(());
            };
            copy_file(file, &metadata, into, name).map_err(|source| Error::from_io(shown(&entry.path), source))
        }
        Kind::Symlink => match from.link_target(entry)? {
            Some(target) => exists_is_fine(symlinkat(target.as_slice(), into, name)).map_err(error),
            None => Ok(()),
        },
        Kind::Folder => {
            let Some(inner) = from.enter(&entry.name)? else {
                return Ok(());
            };
            exists_is_fine(mkdirat(into, name, Permissions::from_raw_mode(0o777))).map_err(error)?;
            copy_entries(&inner, &open_folder(into, name).map_err(error)?, git)
        }
        Kind::Other => Ok(()),
    }
}

fn copy_file(mut from: File, metadata: &Metadata, into: &OwnedFd, name: &Path) -> io::Result<()> {
    let mut to = match create(into, name, metadata.mode & 0o777) {
        Err(Errno::EXIST) => return Ok(()),
        other => other?,
    };
    if ioctl_ficlone(&to, &from).is_err() {
        io::copy(&mut from, &mut to)?;
    }
    set_modified(&to, metadata.modified);
    Ok(())
}

fn exists_is_fine(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
}
