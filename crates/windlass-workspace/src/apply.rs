//! Bringing a result into a folder that somebody is using. What changed there meanwhile is merged first, and what changes at
//! the last moment is seen: a file is swapped with its successor in one step and looked at afterwards, and if it is not the one
//! that was meant it is swapped back. So nothing that was saved is lost, only found; and since merging again leads to the same,
//! it can be done again after a crash; what a crash leaves beside a name is known beforehand (`Intents`), and mended. Whoever holds a file open and writes on into it after it was looked at writes into the
//! former file: of that nobody can know here.

mod mend;

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Mode as Permissions, RenameFlags, ResolveFlags, fchmod, fdatasync, mkdirat, openat2, renameat_with,
    symlinkat, syncfs, unlinkat,
};
use rustix::io::Errno;
use windlass_domain::Digest;

use crate::diff::{Difference, differences};
use crate::error::Error;
use crate::files::{OPEN_FOLDER, Temporary, open_folder};
use crate::intents::{Intent, Intents};
use crate::materialise::Filling;
use crate::path::shown;
use crate::root::Root;
use crate::stat::{Identity, Kind, Metadata};
use crate::stream::ShouldStop;
use crate::tree::{Mode, Node};

/// Somebody changed this while it was being replaced.
pub(crate) struct Moved(pub String);

/// Why a step was not taken.
enum Cut {
    Moved,
    Failed(Error),
}

enum Step {
    TakeAway,
    Put,
}

pub(crate) struct Applying<'a> {
    pub root: &'a Root,
    pub filling: Filling<'a>,
    pub intents: &'a Intents,
}

impl Applying<'_> {
    /// Makes the folder, which is as `before` has it, as `after` has it; or stops at the first name that is not.
    pub fn run(&self, before: Digest, after: Digest) -> Result<Result<usize, Moved>, Error> {
        let differences = differences(self.filling.objects, before, after)?;
        if differences.is_empty() {
            return Ok(Ok(0));
        }
        let intents: Vec<Intent> = differences.iter().map(Intent::of).collect();
        self.intents.write(&intents)?;
        let done = match self.steps(&differences, &intents) {
            Ok(()) => Ok(differences.len()),
            Err((path, Cut::Moved)) => Err(Moved(shown(path))),
            // What is left beside a name, if anything is, is mended by whoever comes next.
            Err((_, Cut::Failed(error))) => return Err(error),
        };
        syncfs(&self.root.folder).map_err(|errno| Error::from_errno("/workspace", errno))?;
        self.intents.done()?;
        Ok(done)
    }

    fn steps<'b>(&self, differences: &'b [Difference], intents: &[Intent]) -> Result<(), (&'b Path, Cut)> {
        let pairs = || differences.iter().zip(intents);
        let removed = pairs().rev().map(|pair| (pair, Step::TakeAway));
        for ((difference, intent), step) in removed.chain(pairs().map(|pair| (pair, Step::Put))) {
            let at = |cut| (difference.path.as_path(), cut);
            self.filling.should_stop.heed().map_err(|error| at(Cut::Failed(error)))?;
            let taken = match step {
                Step::TakeAway => self.take_away(difference, &intent.aside),
                Step::Put => self.put(difference, &intent.aside),
            };
            taken.map_err(at)?;
        }
        Ok(())
    }

    /// What has no successor of its own kind.
    fn take_away(&self, Difference { path, before, after }: &Difference, aside: &str) -> Result<(), Cut> {
        let Some(before) = before else { return Ok(()) };
        let stays = after.as_ref().is_some_and(|after| (after.mode == Mode::Folder) == (before.mode == Mode::Folder));
        if stays {
            return Ok(());
        }
        let place = self.open_parent(path)?;
        if before.mode == Mode::Folder {
            return match unlinkat(&place, Path::new(&before.name), AtFlags::REMOVEDIR) {
                // What is ignored there is not ours to remove.
                Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY) => Ok(()),
                Err(errno) => Err(failed(path, errno)),
            };
        }
        rename(&place, &before.name, aside, RenameFlags::NOREPLACE, path)?;
        if !self.is_still(before, &place, aside, path)? {
            // Unless it was saved once more meanwhile, which is then the newest.
            rename(&place, aside, &before.name, RenameFlags::NOREPLACE, path)
                .inspect_err(|_| discard(&place, aside))?;
            return Err(Cut::Moved);
        }
        unlinkat(&place, aside, AtFlags::empty()).map_err(|errno| failed(path, errno))
    }

    fn put(&self, Difference { path, before, after }: &Difference, aside: &str) -> Result<(), Cut> {
        let Some(after) = after else { return Ok(()) };
        let place = self.make_parent(path)?;
        if after.mode == Mode::Folder {
            return match mkdirat(&place, Path::new(&after.name), Permissions::from_raw_mode(0o777)) {
                Ok(()) => Ok(()),
                Err(Errno::EXIST) if is_folder(&place, &after.name) => Ok(()),
                Err(errno) => Err(failed(path, errno)),
            };
        }
        let former = before.as_ref().filter(|before| before.mode != Mode::Folder);
        self.make(after, former, &place, aside, path)?;
        let Some(former) = former else {
            let renamed = rename(&place, aside, &after.name, RenameFlags::NOREPLACE, path);
            return renamed.inspect_err(|_| discard(&place, aside));
        };
        let swapping = Swapping { place: &place, aside, name: &after.name, path };
        let ours = swapping.aside_is()?;
        swapping.swap().inspect_err(|_| discard(&place, aside))?;
        // Aside stands now what was there at that very moment.
        let is_meant = self.is_still(former, &place, aside, path)?;
        if !is_meant {
            swapping.put_back(ours)?;
        }
        discard(&place, aside);
        if is_meant { Ok(()) } else { Err(Cut::Moved) }
    }

    /// The new content under a name that nobody knows.
    fn make(&self, node: &Node, former: Option<&Node>, place: &OwnedFd, aside: &str, path: &Path) -> Result<(), Cut> {
        let error = |errno| failed(path, errno);
        if node.mode == Mode::Symlink {
            let target = self.filling.objects.read(node.digest).map_err(Cut::Failed)?;
            return symlinkat(target.as_slice(), place, aside).map_err(error);
        }
        let temporary = Temporary::create_named(place, aside).map_err(error)?;
        self.filling.objects.copy(node.digest, &temporary.file, self.filling.should_stop).map_err(Cut::Failed)?;
        let mode = match former {
            Some(former) => Metadata::at(place, Path::new(&former.name)).map_err(error)?.mode & 0o777,
            None => Metadata::of(&temporary.file).map_err(error)?.mode & 0o777,
        };
        let mode = if node.mode == Mode::Executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 };
        fchmod(&temporary.file, Permissions::from_raw_mode(mode)).map_err(error)?;
        fdatasync(&temporary.file).map_err(error)?;
        temporary.keep();
        Ok(())
    }

    fn is_still(&self, node: &Node, place: &OwnedFd, name: &str, path: &Path) -> Result<bool, Cut> {
        self.is_there(&Node { name: OsString::from(name), ..node.clone() }, place, path)
    }

    fn is_there(&self, node: &Node, place: &OwnedFd, path: &Path) -> Result<bool, Cut> {
        // Asked in the middle of a step, which is not stopped there.
        let looking = Filling { should_stop: ShouldStop::NEVER, ..self.filling };
        match looking.is_as(node, place, path) {
            Err(Error::NotFound { .. } | Error::IsAFolder { .. }) => Ok(false),
            done => done.map_err(Cut::Failed),
        }
    }

    fn open_parent(&self, path: &Path) -> Result<OwnedFd, Cut> {
        let parent = parent(path);
        open(&self.root.folder, &parent).map_err(|errno| failed(path, errno))
    }

    fn make_parent(&self, path: &Path) -> Result<OwnedFd, Cut> {
        let error = |errno| failed(path, errno);
        let mut here = open(&self.root.folder, Path::new(".")).map_err(error)?;
        for part in path.parent().unwrap_or(Path::new("")).components() {
            let name = Path::new(part.as_os_str());
            match mkdirat(&here, name, Permissions::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(error(errno)),
            }
            here = open_folder(&here, name).map_err(error)?;
        }
        Ok(here)
    }
}

/// Two names in one folder that change places: the one that everybody knows, and one that only we do.
struct Swapping<'a> {
    place: &'a OwnedFd,
    aside: &'a str,
    name: &'a OsString,
    path: &'a Path,
}

impl Swapping<'_> {
    fn swap(&self) -> Result<(), Cut> {
        rename(self.place, self.aside, self.name, RenameFlags::EXCHANGE, self.path)
    }

    fn aside_is(&self) -> Result<Identity, Cut> {
        let found = Metadata::at(self.place, Path::new(self.aside)).map_err(|errno| failed(self.path, errno))?;
        Ok(found.identity)
    }

    /// Puts what is aside back under its name, where `ours` stands. What comes out instead of it was saved meanwhile, is the
    /// newest, and goes back in turn.
    fn put_back(&self, mut ours: Identity) -> Result<(), Cut> {
        loop {
            let theirs = self.aside_is()?;
            self.swap()?;
            if self.aside_is()? == ours {
                return Ok(());
            }
            ours = theirs;
        }
    }
}

fn parent(path: &Path) -> PathBuf {
    Path::new(".").join(path.parent().unwrap_or(Path::new("")))
}

fn open(root: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(root, path, OPEN_FOLDER, Permissions::empty(), how)
}

fn is_folder(place: &OwnedFd, name: &OsString) -> bool {
    Metadata::at(place, Path::new(name)).is_ok_and(|found| found.kind == Kind::Folder)
}

fn rename(
    place: &OwnedFd,
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    flags: RenameFlags,
    path: &Path,
) -> Result<(), Cut> {
    match renameat_with(place, from.as_ref(), place, to.as_ref(), flags) {
        Ok(()) => Ok(()),
        Err(Errno::NOENT | Errno::EXIST) => Err(Cut::Moved),
        Err(errno) => Err(failed(path, errno)),
    }
}

/// Whoever fails here has nothing better to do than to go on.
fn discard(place: &OwnedFd, name: &str) {
    let _ = unlinkat(place, name, AtFlags::empty());
}

/// A folder that became something else is a change of somebody's; the rest is a failure.
fn failed(path: &Path, errno: Errno) -> Cut {
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::EXIST | Errno::ISDIR => Cut::Moved,
        errno => Cut::Failed(Error::from_errno(shown(path), errno)),
    }
}
