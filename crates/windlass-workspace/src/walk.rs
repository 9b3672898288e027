//! Searching the workspace: every file below a folder that is not ignored, in a fixed order, opened through descriptors.
//! Symlinks are named but not followed. What cannot be read, or lies too deep, is counted and passed over, because a
//! search that fails over one file is of no use.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Component, Path};

use crate::error::Error;
use crate::files::OPEN_FOLDER;
use crate::folder::{Entry, Folder, Rules};
use crate::layout::{SCRATCH_FOLDER, TRACE_FOLDER};
use crate::path::{WorkspacePath, shown};
use crate::root::Root;
use crate::stat::Kind;

/// One search, below one folder.
#[derive(Debug)]
pub struct Search {
    rules: Rules,
    unreadable: u64,
}

/// A file on the way.
pub struct Visit<'a> {
    path: &'a Path,
    kind: Kind,
    source: Source<'a>,
}

enum Source<'a> {
    Entry(&'a Folder<'a>, &'a Entry),
    Named(&'a Root, &'a WorkspacePath),
}

impl Visit<'_> {
    /// Relative to the workspace.
    pub fn path(&self) -> &Path {
        self.path
    }

    /// The path on one line, whatever bytes are in it.
    pub fn shown(&self) -> String {
        shown(self.path)
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// `None` where there is nothing to read: a symlink, a pipe, or a file that has gone.
    pub fn open(&self) -> Result<Option<File>, Error> {
        let opened = match self.source {
            Source::Entry(folder, entry) => folder.open_file(entry)?,
            Source::Named(root, path) => Some(root.open_file(path)?),
        };
        Ok(opened.map(|(file, _)| file))
    }
}

type Visitor<'a> = &'a mut dyn FnMut(&Visit<'_>) -> ControlFlow<()>;

impl Default for Search {
    /// Passes over ignored files, git's own, and what the runtime writes for itself; the agent's memos, plan and output
    /// are searched. A folder that is named outright is searched whatever it is.
    fn default() -> Self {
        let hidden = [SCRATCH_FOLDER, TRACE_FOLDER];
        let rules = Rules { hidden_at_top: hidden.map(Into::into).into(), ..Rules::default() };
        Self { rules, unreadable: 0 }
    }
}

impl Search {
    /// Visits every file below `path`, or `path` itself where it is a file.
    pub fn run(&mut self, root: &Root, path: &WorkspacePath, visit: Visitor<'_>) -> Result<(), Error> {
        let metadata = root.metadata(path)?;
        match metadata.kind {
            Kind::Folder => {}
            Kind::File => {
                let source = Source::Named(root, path);
                let _ = visit(&Visit { path: path.as_path(), kind: Kind::File, source });
                return Ok(());
            }
            Kind::Symlink | Kind::Other => {
                return Err(Error::NotAFile { path: path.to_string() });
            }
        }
        let rules = self.rules.clone();
        let folder = step_down(root, path, &rules)?;
        self.below(&folder, visit).map(drop)
    }

    /// How many folders could not be looked into.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    fn below(&mut self, folder: &Folder<'_>, visit: Visitor<'_>) -> Result<ControlFlow<()>, Error> {
        for entry in folder.list()?.entries {
            let flow = if entry.kind == Kind::Folder {
                match folder.enter(&entry.name) {
                    Ok(Some(inner)) => self.below(&inner, visit)?,
                    Ok(None) => ControlFlow::Continue(()),
                    Err(Error::Denied { .. } | Error::TooDeep { .. }) => {
                        self.unreadable += 1;
                        ControlFlow::Continue(())
                    }
                    Err(other) => return Err(other),
                }
            } else {
                visit(&Visit { path: &entry.path, kind: entry.kind, source: Source::Entry(folder, &entry) })
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Folder by folder, so that the ignore rules above `path` hold in it; in one lookup where a symlink or `..` is on the
/// way, which the root confines.
fn step_down<'rules>(root: &Root, path: &WorkspacePath, rules: &'rules Rules) -> Result<Folder<'rules>, Error> {
    let mut folder = Folder::top(root.open_beneath(&WorkspacePath::top(), OPEN_FOLDER)?, rules);
    for part in path.as_path().components() {
        let inner = match part {
            Component::Normal(name) => folder.enter(name)?,
            _ => None,
        };
        match inner {
            Some(inner) => folder = inner,
            None => {
                return Ok(Folder::alone(root.open_beneath(path, OPEN_FOLDER)?, path.as_path().to_owned(), rules));
            }
        }
    }
    Ok(folder)
}
