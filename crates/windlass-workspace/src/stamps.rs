//! Which files a program has changed, told by what the kernel stamps on them: every change of a file, and every new name for
//! it, gives it a new time of change, which no program can set. Nothing is read, so that it is cheap where `Snapshots` would be
//! dear, and nothing is passed over: ignored files and the runtime's own count too. The top's `.git` does not, since a sandbox
//! keeps it read-only.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::error::Error;
use crate::files::{DEEPEST, OPEN_FOLDER, names, open_folder};
use crate::layout::GIT_FOLDER;
use crate::path::WorkspacePath;
use crate::root::Root;
use crate::stat::{Identity, Kind, Metadata, Timestamp};

/// More than this are not looked at.
const MOST_FILES: usize = 200_000;

/// Every file of a workspace at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamps(BTreeMap<PathBuf, Stamp>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    identity: Identity,
    changed: Timestamp,
    size: u64,
    links: u32,
}

impl Root {
    /// `None` where there are too many files, or one could not be looked at: then nothing can be said of any.
    pub fn stamps(&self) -> Result<Option<Stamps>, Error> {
        let top = self.open_beneath(&WorkspacePath::top(), OPEN_FOLDER)?;
        let mut stamps = Stamps::default();
        Ok(stamps.take(&top, Path::new(""), 0).ok().flatten().map(|()| stamps))
    }
}

impl Stamps {
    fn take(&mut self, folder: &OwnedFd, place: &Path, depth: usize) -> Result<Option<()>, Errno> {
        for (name, kind) in names(folder.as_fd())? {
            let path = place.join(&name);
            match kind {
                Kind::Folder if depth == 0 && name == GIT_FOLDER => {}
                Kind::Folder if depth == DEEPEST => return Ok(None),
                Kind::Folder => {
                    let inner = open_folder(folder, Path::new(&name))?;
                    if self.take(&inner, &path, depth + 1)?.is_none() {
                        return Ok(None);
                    }
                }
                Kind::File | Kind::Symlink | Kind::Other => match Metadata::at(folder, Path::new(&name)) {
                    // It has gone meanwhile.
                    Err(Errno::NOENT) => {}
                    found => drop(self.0.insert(path, Stamp::of(&found?))),
                },
            }
            if self.0.len() > MOST_FILES {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// The files that are there now and were not there, or not like this, before.
    #[must_use]
    pub fn changed_since(&self, before: &Self) -> Vec<WorkspacePath> {
        let is_changed = |(path, stamp): &(&PathBuf, &Stamp)| before.0.get(*path) != Some(*stamp);
        self.0.iter().filter(is_changed).map(|(path, _)| WorkspacePath::from_relative(path)).collect()
    }
}

impl Stamp {
    const fn of(found: &Metadata) -> Self {
        Self { identity: found.identity, changed: found.changed, size: found.size, links: found.links }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_changed_made_moved_or_linked_is_found_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        for path in ["kept", "changed", "a/moved", "linked", ".git/config"] {
            fs::create_dir_all(at(path).parent().expect("it has one")).expect("a folder");
            fs::write(at(path), "before").expect("written");
        }
        let root = Root::open(folder.path()).expect("a root");
        let before = root.stamps().expect("looked at").expect("few files");
        assert_eq!(before.changed_since(&before), []);
        fs::write(at("changed"), "later").expect("written");
        fs::write(at("made"), "new").expect("written");
        fs::rename(at("a"), at("b")).expect("moved");
        fs::hard_link(at("linked"), at("other-name")).expect("linked");
        fs::write(at(".git/config"), "a sandbox could not").expect("written");
        let after = root.stamps().expect("looked at").expect("few files");
        let changed: Vec<String> = after.changed_since(&before).iter().map(WorkspacePath::to_record).collect();
        assert_eq!(changed, ["b/moved", "changed", "linked", "made", "other-name"]);
    }
}
