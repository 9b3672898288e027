//! Where the repository of a linked worktree is: its `.git` is a file that names a folder of that repository, which names the worktree
//! in turn. Only where both agree is anything outside the workspace believed, since whoever wrote the file could name any folder.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, openat};

use crate::files::{OPEN_FOLDER, open_file};
use crate::layout::GIT_FOLDER;
use crate::root::open_trusted;
use crate::stat::Metadata;

const MOST_BYTES: u64 = 8 * 1024;

/// The folder that all worktrees of the repository share; `None` where `top` is no linked worktree.
pub(crate) fn repository_of_linked(top: impl AsFd) -> Option<OwnedFd> {
    let (file, mine) = open_file(&top, Path::new(GIT_FOLDER)).ok()??;
    let own = beside(&top, Path::new(first_line(file)?.strip_prefix("gitdir: ")?))?;
    let names = named_in(&own, "gitdir")?;
    let above = open_trusted(names.parent()?).ok()?;
    let named = Metadata::at(&above, Path::new(names.file_name()?)).ok()?;
    if named.identity != mine.identity {
        return None;
    }
    beside(&own, &named_in(&own, "commondir")?)
}

/// A path as git writes it: from the root, or from the folder it stands in.
fn beside(folder: impl AsFd, path: &Path) -> Option<OwnedFd> {
    openat(folder, path, OPEN_FOLDER, Mode::empty()).ok()
}

fn named_in(folder: impl AsFd, name: &str) -> Option<PathBuf> {
    let (file, _) = open_file(folder, Path::new(name)).ok()??;
    first_line(file).map(PathBuf::from)
}

fn first_line(file: File) -> Option<String> {
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    text.lines().next().map(str::to_owned)
}
