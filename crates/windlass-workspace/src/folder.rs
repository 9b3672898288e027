//! A folder on the way through a tree: open, with its path and the ignore rules that hold in it. Capturing, searching
//! and restoring all step down through these, so that none of them ever looks anything up by path.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::readlinkat;
use rustix::io::Errno;

use crate::error::Error;
use crate::files::{DEEPEST, names, open_file, open_folder};
use crate::ignores::Ignores;
use crate::path::shown;
use crate::root::is_temporary;
use crate::stat::{Kind, Metadata};

/// What is passed over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    /// Names at the top of the workspace.
    pub hidden_at_top: Vec<OsString>,
    pub ignored: Ignored,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ignored {
    #[default]
    Skip,
    Include,
}

pub(crate) struct Folder<'rules> {
    fd: OwnedFd,
    path: PathBuf,
    depth: usize,
    ignores: Ignores,
    rules: &'rules Rules,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub name: OsString,
    /// Relative to the top of the workspace.
    pub path: PathBuf,
    pub kind: Kind,
}

impl<'rules> Folder<'rules> {
    pub fn top(fd: OwnedFd, rules: &'rules Rules) -> Self {
        let ignores = match rules.ignored {
            Ignored::Skip => Ignores::of_repository(&fd).below(Path::new(""), &fd),
            Ignored::Include => Ignores::default(),
        };
        Self { fd, path: PathBuf::new(), depth: 0, ignores, rules }
    }

    /// A folder reached in one lookup, through symlinks perhaps, so that the rules above it are not known.
    pub fn alone(fd: OwnedFd, path: PathBuf, rules: &'rules Rules) -> Self {
        let ignores = Ignores::default().below(&path, &fd);
        Self { fd, path, depth: 1, ignores, rules }
    }

    /// Steps into a folder; `None` when it is none, or no longer.
    pub fn enter(&self, name: &OsStr) -> Result<Option<Self>, Error> {
        let path = self.path.join(name);
        if self.depth >= DEEPEST {
            return Err(Error::TooDeep { path: shown(&path), cap: DEEPEST });
        }
        let fd = match open_folder(&self.fd, Path::new(name)) {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(other) => return Err(Error::from_errno(shown(&path), other)),
        };
        let ignores = match self.rules.ignored {
            Ignored::Skip => self.ignores.below(&path, &fd),
            Ignored::Include => Ignores::default(),
        };
        Ok(Some(Self { fd, path, depth: self.depth + 1, ignores, rules: self.rules }))
    }

    /// What is in it and not passed over, in byte order.
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        let names = names(&self.fd).map_err(|errno| Error::from_errno(shown(&self.path), errno))?;
        let entries = names.into_iter().map(|(name, kind)| Entry { path: self.path.join(&name), name, kind });
        Ok(entries.filter(|entry| !self.passes_over(entry)).collect())
    }

    pub fn open_file(&self, entry: &Entry) -> Result<Option<(File, Metadata)>, Error> {
        gone_is_none(entry, open_file(&self.fd, Path::new(&entry.name))).map(Option::flatten)
    }

    pub fn metadata(&self, entry: &Entry) -> Result<Option<Metadata>, Error> {
        gone_is_none(entry, Metadata::at(&self.fd, Path::new(&entry.name)))
    }

    pub fn link_target(&self, entry: &Entry) -> Result<Option<Vec<u8>>, Error> {
        match readlinkat(&self.fd, Path::new(&entry.name), Vec::new()) {
            Ok(target) => Ok(Some(target.into_bytes())),
            Err(Errno::NOENT | Errno::INVAL | Errno::NOTDIR) => Ok(None),
            Err(other) => Err(Error::from_errno(shown(&entry.path), other)),
        }
    }

    fn passes_over(&self, entry: &Entry) -> bool {
        (self.depth == 0 && self.rules.hidden_at_top.contains(&entry.name))
            || is_temporary(&entry.name)
            || self.ignores.exclude(&entry.path, entry.kind == Kind::Folder)
    }
}

impl AsFd for Folder<'_> {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Files come and go while a tree is walked; only the ones that stay are in it.
fn gone_is_none<T>(entry: &Entry, result: Result<T, Errno>) -> Result<Option<T>, Error> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(other) => Err(Error::from_errno(shown(&entry.path), other)),
    }
}
