//! Copying files as they are: carried paths out of the live workspace, a folder that is to be there several times, and what an
//! agent delivers.
//! What is copied may be an agent's, so every step is by descriptor and no symlink is followed; what is already there is
//! never overwritten. Pipes, sockets and devices do not come along; holes stay holes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{Mode as Permissions, ioctl_ficlone, mkdirat, symlinkat};
use rustix::io::Errno;
use windlass_domain::Wall;

use crate::ages::Age;
use crate::error::Error;
use crate::files::{OPEN_FOLDER, open_folder};
use crate::folder::{Entry, Folder, Listing, Rules};
use crate::materialise::{create, open_empty, set_modified};
use crate::path::{WorkspacePath, shown};
use crate::root::{Root, open_trusted};
use crate::snapshots::SnapshotLimits;
use crate::stat::{Kind, Metadata, Timestamp};
use crate::stream::{Cut, ShouldStop, Sparse, pour};
use crate::tally::Tally;

/// Copies all that is in a folder of the runtime's own into an empty or new one.
pub fn copy_folder(from: &Path, into: &Path, should_stop: &dyn Fn() -> bool) -> Result<(), Error> {
    let rules = Rules::none();
    let from = open_trusted(from).map_err(|errno| Error::ours("the folder to copy", errno.into()))?;
    let mut copying = Copying {
        git: Git::Copied,
        links: Links::Copied,
        times: Times::Kept,
        takes: &|_, _| true,
        tally: None,
        should_stop: ShouldStop(should_stop),
    };
    copying.entries(&Folder::top(from, &rules), &open_empty(into)?)
}

/// Copies some of the files of an agent's folder into an empty or new one: those that `takes` says yes to, in folders that it says yes to.
/// No link comes along.
pub fn copy_some(
    folder: &Path,
    into: &Path,
    takes: &dyn Fn(&Path, Kind) -> bool,
    limits: SnapshotLimits,
    should_stop: &dyn Fn() -> bool,
) -> Result<(), Error> {
    let rules = Rules::none();
    let from = open_trusted(folder).map_err(|errno| Error::ours("the folder to copy", errno.into()))?;
    let mut tally = Tally::new(limits);
    let mut copying = Copying {
        git: Git::LeftOut,
        links: Links::LeftOut,
        times: Times::Kept,
        takes,
        tally: Some(&mut tally),
        should_stop: ShouldStop(should_stop),
    };
    copying.entries(&Folder::top(from, &rules), &open_empty(into)?)
}

/// Copies what is in the folder `name` of an agent's folder into an empty or new one: nothing that a link leads to, and no link
/// that leads out. `None`: there is no such folder, or nothing in it.
pub fn copy_beneath(
    folder: &Path,
    name: &str,
    into: &Path,
    limits: SnapshotLimits,
    should_stop: &dyn Fn() -> bool,
) -> Result<Option<u64>, Error> {
    let rules = Rules::none();
    let top = open_trusted(folder).map_err(|errno| Error::ours("the folder to copy", errno.into()))?;
    let Some(from) = Folder::top(top, &rules).enter(OsStr::new(name))? else { return Ok(None) };
    let mut tally = Tally::new(limits);
    let should_stop = ShouldStop(should_stop);
    let mut copying = Copying {
        git: Git::Copied,
        links: Links::Inside { above: 1 },
        times: Times::Kept,
        takes: &|_, _| true,
        tally: Some(&mut tally),
        should_stop,
    };
    copying.entries(&from, &open_empty(into)?)?;
    Ok(Some(tally.files()).filter(|files| *files > 0))
}

/// What is carried beside one snapshot.
pub(crate) struct Carrying<'a> {
    pub made: Wall,
    pub tally: &'a mut Tally,
    pub should_stop: ShouldStop<'a>,
}

impl Carrying<'_> {
    /// Copies a path of the live workspace. What is not there is not carried; what the snapshot has is not overwritten. A
    /// `.git` comes along only where it is what `path` names: any other may be the agent's making.
    pub fn carry(&mut self, live: &Root, path: &WorkspacePath, into: &Path) -> Result<(), Error> {
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
        let times = Times::All(Age::Carried.time(self.made));
        let should_stop = self.should_stop;
        let (git, links, takes, tally) = (Git::LeftOut, Links::Copied, &|_: &Path, _| true, Some(&mut *self.tally));
        Copying { git, links, times, takes, tally, should_stop }.entry(&from, &entry, &into)
    }
}

/// What becomes of a `.git` on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Git {
    LeftOut,
    Copied,
}

/// What becomes of symlinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    LeftOut,
    Copied,
    /// Those that lead to something that is copied; the copy begins this many folders below the path's beginning.
    Inside {
        above: usize,
    },
}

impl Links {
    /// Up, no further than to where the copy begins, and then down. What climbs after it went down may climb out, by way of
    /// another link.
    fn take(self, target: &[u8], path: &Path) -> bool {
        let above = match self {
            Self::LeftOut => return false,
            Self::Copied => return true,
            Self::Inside { above } => above,
        };
        let depth = path.components().count().saturating_sub(above + 1);
        let parts: Vec<Component<'_>> = Path::new(OsStr::from_bytes(target)).components().collect();
        let climbs = parts.iter().take_while(|part| matches!(part, Component::ParentDir)).count();
        climbs <= depth && parts[climbs..].iter().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    }
}

/// When the copies look to have been modified.
#[derive(Debug, Clone, Copy)]
enum Times {
    /// As what they are copies of.
    Kept,
    All(Timestamp),
}

struct Copying<'a> {
    git: Git,
    links: Links,
    times: Times,
    takes: &'a dyn Fn(&Path, Kind) -> bool,
    /// For what nobody has counted yet.
    tally: Option<&'a mut Tally>,
    should_stop: ShouldStop<'a>,
}

impl Copying<'_> {
    fn entries(&mut self, from: &Folder<'_>, into: &OwnedFd) -> Result<(), Error> {
        let Listing { mut entries, git: found } = from.list()?;
        if self.git == Git::Copied {
            entries.extend(found);
        }
        entries.iter().try_for_each(|entry| self.entry(from, entry, into))
    }

    fn entry(&mut self, from: &Folder<'_>, entry: &Entry, into: &OwnedFd) -> Result<(), Error> {
        self.should_stop.heed()?;
        if !(self.takes)(&entry.path, entry.kind) {
            return Ok(());
        }
        let error = |errno| Error::from_errno(shown(&entry.path), errno);
        let name = Path::new(&entry.name);
        match entry.kind {
            Kind::File => {
                let Some((file, metadata)) = from.open_file(entry)? else {
                    return Ok(());
                };
                self.count(entry, metadata.size)?;
                self.file(file, &metadata, into, name).map_err(|cut| cut.at(shown(&entry.path)))
            }
            Kind::Symlink => match from.link_target(entry)? {
                Some(target) if self.links.take(&target, &entry.path) => {
                    self.count(entry, 0)?;
                    exists_is_fine(symlinkat(target.as_slice(), into, name)).map_err(error)
                }
                Some(_) | None => Ok(()),
            },
            Kind::Folder => {
                let Some(inner) = from.enter(&entry.name)? else {
                    return Ok(());
                };
                self.count(entry, 0)?;
                exists_is_fine(mkdirat(into, name, Permissions::from_raw_mode(0o777))).map_err(error)?;
                self.entries(&inner, &open_folder(into, name).map_err(error)?)
            }
            Kind::Other => Ok(()),
        }
    }

    fn count(&mut self, entry: &Entry, size: u64) -> Result<(), Error> {
        self.tally.as_mut().map_or(Ok(()), |tally| tally.count(&entry.path, size))
    }

    fn file(&self, from: File, metadata: &Metadata, into: &OwnedFd, name: &Path) -> Result<(), Cut> {
        let to = match create(into, name, metadata.mode & 0o777) {
            Err(Errno::EXIST) => return Ok(()),
            other => other.map_err(io::Error::from)?,
        };
        if ioctl_ficlone(&to, &from).is_err() {
            // Never more than the size it had: that is what was counted.
            let mut sparse = Sparse::new(&to);
            pour(&mut from.take(metadata.size), &mut sparse, self.should_stop, |_| ())?;
            sparse.finish()?;
        }
        set_modified(
            &to,
            match self.times {
                Times::Kept => metadata.modified,
                Times::All(time) => time,
            },
        );
        Ok(())
    }
}

fn exists_is_fine(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
}
