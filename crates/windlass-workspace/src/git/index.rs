//! What only the index of a repository knows: which files are tracked although they are ignored, and which are tracked and, in a sparse
//! checkout, not there on purpose. A repository that git cannot read has neither.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::at_work::Patience;
use super::program::Git;
use crate::error::Error;
use crate::tracked::Tracked;

pub(crate) fn tracked_but_ignored(workspace: &Path, patience: Patience<'_>) -> Result<Tracked, Error> {
    let Some(git) = Git::of(workspace, patience) else { return Ok(Tracked::default()) };
    let listed = git.listed_in(workspace, &["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"]);
    Ok(names(&if_readable(listed)?).map(path).collect())
}

/// Those that a sparse checkout leaves out.
pub(super) fn left_out(git: &Git<'_>, workspace: &Path) -> Result<BTreeSet<PathBuf>, Error> {
    let listed = if_readable(git.listed_in(workspace, &["ls-files", "-z", "-t", "--cached"]))?;
    Ok(names(&listed).filter_map(|line| line.strip_prefix(b"S ")).map(path).collect())
}

/// What git says about a repository that it can read; nothing of one that it cannot. That nobody has waited for it says neither.
fn if_readable(listed: Result<Vec<u8>, Error>) -> Result<Vec<u8>, Error> {
    match listed {
        Err(error @ (Error::Stopped | Error::GitSilent { .. })) => Err(error),
        listed => Ok(listed.unwrap_or_default()),
    }
}

/// A file of a commit, or a submodule.
pub(super) struct Committed {
    pub path: PathBuf,
    /// The commit that a submodule stands at.
    pub link: Option<String>,
}

pub(super) fn committed(git: &Git<'_>, workspace: &Path, commit: &str) -> Result<Vec<Committed>, Error> {
    let listed = git.listed_in(workspace, &["ls-tree", "-r", "-z", "--full-tree", commit])?;
    Ok(names(&listed).filter_map(entry).collect())
}

/// `160000 commit 0123…<tab>path`.
fn entry(line: &[u8]) -> Option<Committed> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let mut facts = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
    let (mode, object) = (facts.next()?, facts.nth(1)?);
    Some(Committed { path: path(&line[tab + 1..]), link: (mode == "160000").then(|| object.to_owned()) })
}

fn names(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|name| !name.is_empty())
}

fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(name.to_vec()))
}
