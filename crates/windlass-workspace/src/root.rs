//! The confined root. Every lookup is one `openat2` below an open descriptor with `RESOLVE_BENEATH`, so that the kernel
//! itself refuses `..`, absolute paths and symlinks that lead out, in the same step that opens the file; what was opened
//! is then used by descriptor and never looked up again by name.
//!
//! Plain `rustix` and not `cap-std`: replacing a file atomically, and telling pipes from files without hanging, need the
//! descriptors themselves, and what is left of a wrapper after that is its weight. Linux only, as the sandbox is.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat2, readlinkat};
use rustix::io::Errno;
use windlass_domain::Digest;

use crate::error::Error;
use crate::files::{OPEN_FILE, OPEN_FOLDER, names, regular};
use crate::hash;
use crate::layout::{GIT_FOLDER, TEMPORARY_PREFIX};
use crate::path::{WorkspacePath, shown};
use crate::stat::{Identity, Kind, Metadata};
use crate::stream::ShouldStop;

/// The kernel's own limit on symlinks in one lookup.
const MOST_LINKS: usize = 40;

/// `openat2` gives up when something is renamed while it resolves a `..`; it is meant to be asked again.
const MOST_TRIES: usize = 1_000;

#[derive(Debug)]
pub struct Root {
    pub(crate) folder: OwnedFd,
    identity: Identity,
    protected: Vec<OsString>,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: OsString,
    pub kind: Kind,
}

impl Listed {
    /// On one line, whatever bytes are in it.
    pub fn shown(&self) -> String {
        shown(Path::new(&self.name))
    }
}

/// Where a file is or would be: a name, not a symlink when it was looked at, in a folder that is inside.
pub(crate) struct Place {
    pub folder: OwnedFd,
    pub name: OsString,
}

impl Root {
    /// Every `.git` is protected, at any depth and whether it is there yet or not: what a git that somebody runs later
    /// will obey must not be writable from here when the sandbox keeps it read-only.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let error = |errno| Error::from_errno("the workspace folder", errno);
        let folder = open(folder, OPEN_FOLDER, Mode::empty()).map_err(error)?;
        let identity = Metadata::of(&folder).map_err(error)?.identity;
        let root = Self { folder, identity, protected: vec![GIT_FOLDER.into()] };
        root.open_beneath(&WorkspacePath::top(), OPEN_FOLDER)?;
        Ok(root)
    }

    /// Instead, names at the top that nothing here will change, nor anything in them; `.git` among them means every one.
    #[must_use]
    pub fn protecting(mut self, names: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.protected = names.into_iter().map(Into::into).collect();
        self
    }

    /// A regular file, open for reading, and what it is.
    pub fn open_file(&self, path: &WorkspacePath) -> Result<(File, Metadata), Error> {
        let opened = self.open_beneath(path, OPEN_FILE)?;
        match Metadata::of(&opened).map_err(|errno| Error::from_errno(path.to_string(), errno))?.kind {
            Kind::Folder => Err(Error::IsAFolder { path: path.to_string() }),
            _ => regular(opened)
                .map_err(|errno| Error::from_errno(path.to_string(), errno))?
                .ok_or_else(|| Error::NotAFile { path: path.to_string() }),
        }
    }

    /// All of a file that holds at most `cap` bytes.
    pub fn read(&self, path: &WorkspacePath, cap: u64) -> Result<Vec<u8>, Error> {
        let (file, metadata) = self.open_file(path)?;
        let too_large = |size| Error::TooLarge { path: path.to_string(), size, cap };
        if metadata.size > cap {
            return Err(too_large(metadata.size));
        }
        let mut bytes = Vec::new();
        // It may grow while it is read.
        file.take(cap + 1).read_to_end(&mut bytes).map_err(|error| Error::from_io(path.to_string(), error))?;
        if bytes.len() as u64 > cap {
            return Err(too_large(bytes.len() as u64));
        }
        Ok(bytes)
    }

    /// `None`: there is no such file.
    pub fn digest(&self, path: &WorkspacePath) -> Result<Option<Digest>, Error> {
        let mut file = match self.open_file(path) {
            Ok((file, _)) => file,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(other) => return Err(other),
        };
        hash::of_file(&mut file, ShouldStop::NEVER).map(Some).map_err(|cut| cut.at(path.to_string()))
    }

    /// Of what the path leads to, symlinks followed.
    pub fn metadata(&self, path: &WorkspacePath) -> Result<Metadata, Error> {
        let opened = self.open_beneath(path, OFlags::PATH | OFlags::CLOEXEC)?;
        Metadata::of(&opened).map_err(|errno| Error::from_errno(path.to_string(), errno))
    }

    /// What is in a folder, by name.
    pub fn list(&self, path: &WorkspacePath) -> Result<Vec<Listed>, Error> {
        let folder = self.open_beneath(path, OPEN_FOLDER)?;
        let names = names(&folder).map_err(|errno| Error::from_errno(path.to_string(), errno))?;
        let listed = names.into_iter().map(|(name, kind)| Listed { name, kind });
        Ok(listed.filter(|entry| !is_temporary(&entry.name)).collect())
    }

    pub(crate) fn open_beneath(&self, path: &WorkspacePath, flags: OFlags) -> Result<OwnedFd, Error> {
        self.resolve(path.as_path(), flags).map_err(|errno| Error::from_errno(path.to_string(), errno))
    }

    fn resolve(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let mut tries = 0;
        loop {
            match openat2(&self.folder, path, flags | OFlags::CLOEXEC, Mode::empty(), how) {
                Err(Errno::AGAIN | Errno::INTR) if tries < MOST_TRIES => tries += 1,
                done => return done,
            }
        }
    }

    /// Where `path` is to be written: the last name is followed while it is a symlink, so that a link keeps being one
    /// and the file it means is what changes. Each step is a confined lookup from the root.
    pub(crate) fn place(&self, path: &WorkspacePath, missing: Missing) -> Result<Place, Error> {
        let error = |errno| Error::from_errno(path.to_string(), errno);
        let mut target = path.as_path().to_owned();
        for _ in 0..MOST_LINKS {
            let Some(name) = target.file_name().map(OsStr::to_owned) else {
                return Err(Error::IsAFolder { path: path.to_string() });
            };
            let parent = target.parent().unwrap_or(Path::new(""));
            let folder = match self.resolve(parent, OPEN_FOLDER) {
                Err(Errno::NOENT) if missing == Missing::CreateFolders => self.create_folders(parent, path)?,
                other => other.map_err(error)?,
            };
            match readlinkat(&folder, Path::new(&name), Vec::new()) {
                Ok(link) => target = parent.join(OsStr::from_bytes(link.to_bytes())),
                Err(Errno::INVAL | Errno::NOENT) => return Ok(Place { folder, name }),
                Err(other) => return Err(error(other)),
            }
            if target.is_absolute() {
                return Err(Error::Outside { path: path.to_string() });
            }
        }
        Err(Error::Loop { path: path.to_string() })
    }

    /// That `name` in `folder` may be changed. Judged by which folders these really are, not by how they were spelled.
    pub(crate) fn check_unprotected(&self, folder: impl AsFd, name: &OsStr, path: &WorkspacePath) -> Result<(), Error> {
        let error = |errno| Error::from_errno(path.to_string(), errno);
        let protected = || Error::Protected { path: path.to_string() };
        let fixed: Vec<Identity> = self
            .protected
            .iter()
            .filter_map(|name| Metadata::at(&self.folder, Path::new(name)).ok())
            .map(|metadata| metadata.identity)
            .collect();
        let every_git = self.protected.iter().any(|fixed| fixed == GIT_FOLDER);
        if every_git && name == GIT_FOLDER {
            return Err(protected());
        }
        let mut above = Metadata::of(&folder).map_err(error)?.identity;
        if above == self.identity {
            return if self.protected.iter().any(|fixed| fixed == name) { Err(protected()) } else { Ok(()) };
        }
        let mut climbed: Option<OwnedFd> = None;
        while above != self.identity {
            if fixed.contains(&above) {
                return Err(protected());
            }
            let here = climbed.as_ref().map_or(folder.as_fd(), AsFd::as_fd);
            let parent =
                rustix::fs::openat(here, "..", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
                    .map_err(error)?;
            let next = Metadata::of(&parent).map_err(error)?.identity;
            if next == above {
                // The top of the whole file system: the folder was moved out of the workspace under our hands.
                return Err(Error::Outside { path: path.to_string() });
            }
            let git = Metadata::at(&parent, Path::new(GIT_FOLDER));
            if every_git && git.is_ok_and(|git| git.identity == above) {
                return Err(protected());
            }
            above = next;
            climbed = Some(parent);
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    CreateFolders,
    Fail,
}

pub(crate) fn is_temporary(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes())
}

/// Opens a folder that the operator named, not the agent.
pub(crate) fn open_trusted(folder: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(CWD, folder, OPEN_FOLDER, Mode::empty())
}
