//! A folder on the way through a tree: open, with its path and the ignore rules that hold in it. Capturing, searching
//! and copying all step down through these, so that none of them ever looks anything up by path.
//!
//! A `.git` is told apart from everything else, at any depth and whatever it is: a folder that has one is a folder like
//! any other, and what is in the `.git` is nobody's work.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::readlinkat;
use rustix::io::Errno;

use crate::error::Error;
use crate::files::{DEEPEST, names, open_file, open_folder};
use crate::ignores::{Ignored, Ignores, RuleFile};
use crate::layout::{GIT_FOLDER, is_leftover};
use crate::path::shown;
use crate::stat::{Kind, Metadata};
use crate::tracked::Tracked;

/// What is passed over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    /// Names at the top of the workspace.
    pub hidden_at_top: Vec<OsString>,
    pub ignored: Ignored,
    /// What is not passed over although it is ignored.
    pub tracked: Arc<Tracked>,
}

impl Rules {
    /// For what is copied as it is.
    pub fn none() -> Self {
        Self { ignored: Ignored::Nothing, ..Self::default() }
    }
}

pub(crate) struct Folder<'rules> {
    fd: OwnedFd,
    path: PathBuf,
    depth: usize,
    ignores: Ignores,
    /// All that is in it is, but for what is tracked.
    is_ignored: bool,
    rules: &'rules Rules,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub name: OsString,
    /// Relative to the top of the workspace.
    pub path: PathBuf,
    pub kind: Kind,
}

/// What is in a folder and not passed over, in byte order.
#[derive(Debug)]
pub(crate) struct Listing {
    pub entries: Vec<Entry>,
    /// Whether ignored or not: an agent must not be able to make one unseen.
    pub git: Option<Entry>,
}

impl<'rules> Folder<'rules> {
    pub fn top(fd: OwnedFd, rules: &'rules Rules) -> Self {
        let ignores = rules.ignored.at_top(&fd);
        Self { fd, path: PathBuf::new(), depth: 0, ignores, is_ignored: false, rules }
    }

    /// A folder reached in one lookup, through symlinks perhaps, so that the rules above it are not known.
    pub fn alone(fd: OwnedFd, path: PathBuf, rules: &'rules Rules) -> Self {
        let ignores = rules.ignored.below(&Ignores::default(), &path, &fd);
        Self { fd, path, depth: 1, ignores, is_ignored: false, rules }
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
        let ignores = self.rules.ignored.below(&self.ignores, &path, &fd);
        // Without tracked files nobody steps into what is ignored but who names it, and they mean it.
        let is_ignored = !self.rules.tracked.is_empty() && self.ignores(&path, Kind::Folder);
        Ok(Some(Self { fd, path, depth: self.depth + 1, ignores, is_ignored, rules: self.rules }))
    }

    pub fn list(&self) -> Result<Listing, Error> {
        let names = names(&self.fd).map_err(|errno| Error::from_errno(shown(&self.path), errno))?;
        let all = names.into_iter().map(|(name, kind)| Entry { path: self.path.join(&name), name, kind });
        let (mut git, entries): (Vec<_>, Vec<_>) = all.partition(|entry| entry.name == GIT_FOLDER);
        let entries = entries.into_iter().filter(|entry| !self.passes_over(entry)).collect();
        Ok(Listing { entries, git: git.pop() })
    }

    /// What bears this name, be it passed over or not.
    pub fn named(&self, name: &OsStr) -> Result<Option<Entry>, Error> {
        let entry = Entry { name: name.to_owned(), path: self.path.join(name), kind: Kind::Other };
        Ok(self.metadata(&entry)?.map(|metadata| Entry { kind: metadata.kind, ..entry }))
    }

    /// The files whose rules begin here.
    pub fn rule_files(&self) -> Vec<Arc<RuleFile>> {
        self.ignores.of(&self.path)
    }

    pub fn path(&self) -> &Path {
        &self.path
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
            || is_leftover(&entry.name, entry.kind)
            || (self.ignores(&entry.path, entry.kind) && !self.rules.tracked.keeps(&entry.path))
    }

    fn ignores(&self, path: &Path, kind: Kind) -> bool {
        self.is_ignored || self.ignores.exclude(path, kind == Kind::Folder)
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
