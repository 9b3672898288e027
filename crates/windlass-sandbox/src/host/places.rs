//! Which directories and files are meant to be mounted. Mounts are made by path, after the paths were looked at: somebody who
//! works in the same folder may put a link in a path's place between. So each is told by what it is, and the supervisor
//! compares what was mounted with that before it runs anything.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags, ResolveFlags, fstat, open, openat2},
    io::Errno,
};

use crate::policy::around;

/// All that is said of places, in bytes: it has to fit into one packet with the rest.
const MOST_BYTES: usize = 40 << 10;

/// A place of the sandbox, absolute or below the workspace, and what lies there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// The workspace itself, these paths in it, and what is around them. What has gone, or is more than can be told, is taken out
/// of `protected`; a link that has come in its place is an error.
pub(crate) fn identify(workspace: &Path, protected: &mut Vec<PathBuf>) -> io::Result<Vec<Place>> {
    let top = open(workspace, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut left = MOST_BYTES;
    let mut error = None;
    protected.retain(|path| {
        let size: usize = path.ancestors().map(|part| part.as_os_str().len() + 4 * size_of::<u64>()).sum();
        match (look(&top, path), left.checked_sub(size)) {
            (Ok(_), Some(rest)) => {
                left = rest;
                true
            }
            (Err(Errno::NOENT) | Ok(_), _) => false,
            (Err(errno), _) => {
                error = Some(io::Error::new(errno.kind(), format!("{}: {errno}", path.display())));
                true
            }
        }
    });
    if let Some(error) = error {
        return Err(error);
    }
    let paths: BTreeSet<&Path> = around(protected).into_iter().chain(protected.iter().map(PathBuf::as_path)).collect();
    let places = std::iter::once(Path::new("")).chain(paths).map(|path| look(&top, path));
    places.collect::<Result<_, Errno>>().map_err(io::Error::from)
}

impl Place {
    /// This directory of the host, which is to be shown there.
    pub(crate) fn of(directory: &Path, inside: impl Into<PathBuf>) -> io::Result<Self> {
        let found = open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let stat = fstat(&found)?;
        Ok(Self { path: inside.into(), device: stat.st_dev, inode: stat.st_ino })
    }
}

fn look(top: impl std::os::fd::AsFd, path: &Path) -> Result<Place, Errno> {
    let name = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let found = openat2(top, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), how)?;
    let stat = fstat(&found)?;
    Ok(Place { path: path.to_owned(), device: stat.st_dev, inode: stat.st_ino })
}
