//! Bringing a result into a folder that somebody is using. What changed there meanwhile is merged first, and what changes at
//! the last moment is seen: a file is swapped with its successor in one step and looked at afterwards, and if it is not the one
//! that was meant it is swapped back. All successors are made before the first name changes, and where it cannot be brought to its
//! end, what was done is undone (`undo`): all of a result arrives, or none of it. So nothing that was saved is lost, only found; and since merging again leads to the same,
//! it can be done again after a crash; what a crash leaves is known beforehand (`Intents`), and mended. Whoever holds a file open and writes on into it after it was looked at writes into the
//! former file: of that nobody can know here.

mod mend;
mod undo;

use std::collections::BTreeSet;
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
use crate::intents::{Intent, Intents, Way};
use crate::materialise::Filling;
use crate::path::shown;
use crate::root::Root;
use crate::stat::{Identity, Kind, Metadata};
use crate::stream::ShouldStop;
use crate::tree::{Mode, Node};

/// Somebody changed this while it was being replaced.
pub(crate) struct Moved {
    pub path: String,
    /// What was brought nevertheless, and could not be undone because somebody went on with it.
    pub kept: Vec<String>,
}

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

/// What a step changed, so that it can be undone.
struct Done {
    difference: Difference,
    /// The permissions of what was there.
    mode: Option<u32>,
}

#[derive(Default)]
struct Log(Vec<Done>);

impl Log {
    fn add(&mut self, difference: Difference, mode: Option<u32>) {
        self.0.push(Done { difference, mode });
    }

    fn add_folder(&mut self, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_owned();
        let folder = Node { name, mode: Mode::Folder, digest: Digest::of(b"") };
        self.add(Difference { path: path.to_owned(), before: None, after: Some(folder) }, None);
    }
}

impl Applying<'_> {
    /// Makes the folder, which is as `before` has it, as `after` has it; or stops at the first name that is not.
    pub fn run(&self, before: Digest, after: Digest) -> Result<Result<usize, Moved>, Error> {
        let differences = differences(self.filling.objects, before, after)?;
        if differences.is_empty() {
            return Ok(Ok(0));
        }
        let intents: Vec<Intent> =
            differences.iter().map(|difference| Intent::of(difference, self.mode_now(difference))).collect();
        self.intents.write(Way::There, &intents)?;
        let mut log = Log::default();
        let done = match self.steps(&differences, &intents, &mut log) {
            Ok(()) => Ok(differences.len()),
            Err((path, cut)) => match (self.undo(&intents, log), cut) {
                (Ok(kept), Cut::Moved) => Err(Moved { path: shown(path), kept }),
                (Ok(kept), Cut::Failed(error)) => {
                    self.settled()?;
                    return Err(error.although(&kept));
                }
                // The list stays: what is left beside a name is mended by whoever comes next.
                (Err(kept), Cut::Failed(error)) => return Err(error.although(&kept)),
                (Err(kept), Cut::Moved) => return Err(moved(path).although(&kept)),
            },
        };
        self.settled()?;
        Ok(done)
    }

    /// Of what is to be replaced or taken away; whoever does that looks again.
    fn mode_now(&self, Difference { path, before, .. }: &Difference) -> Option<u32> {
        let former = leaf(before)?;
        mode_of(&self.open_parent(path).ok()?, &former.name, path).ok()?
    }

    fn settled(&self) -> Result<(), Error> {
        syncfs(&self.root.folder).map_err(|errno| Error::from_errno("/workspace", errno))?;
        self.intents.done()
    }

    fn steps<'b>(
        &self,
        differences: &'b [Difference],
        intents: &[Intent],
        log: &mut Log,
    ) -> Result<(), (&'b Path, Cut)> {
        let pairs = || differences.iter().zip(intents);
        let heed = || self.filling.should_stop.heed().map_err(Cut::Failed);
        let mut prepared = BTreeSet::new();
        for (difference, intent) in pairs() {
            match heed().and_then(|()| self.prepare(difference, &intent.aside, log)) {
                Ok(()) => _ = prepared.insert(&intent.aside),
                // What is in the way may be what is taken away below; if it is not, that is found then.
                Err(Cut::Moved) => {}
                Err(cut) => return Err((&difference.path, cut)),
            }
        }
        let removed = pairs().rev().map(|pair| (pair, Step::TakeAway));
        for ((difference, intent), step) in removed.chain(pairs().map(|pair| (pair, Step::Put))) {
            let taken = heed().and_then(|()| match step {
                Step::TakeAway => self.take_away(difference, &intent.aside, log),
                Step::Put if prepared.contains(&intent.aside) => self.place(difference, &intent.aside, log),
                Step::Put => self.put(difference, &intent.aside, log),
            });
            taken.map_err(|cut| (difference.path.as_path(), cut))?;
        }
        Ok(())
    }

    /// What has no successor of its own kind.
    fn take_away(&self, difference: &Difference, aside: &str, log: &mut Log) -> Result<(), Cut> {
        let Difference { path, before, after } = difference;
        let Some(before) = before else { return Ok(()) };
        let stays = after.as_ref().is_some_and(|after| (after.mode == Mode::Folder) == (before.mode == Mode::Folder));
        if stays {
            return Ok(());
        }
        let place = self.open_parent(path)?;
        if before.mode == Mode::Folder {
            return match unlinkat(&place, Path::new(&before.name), AtFlags::REMOVEDIR) {
                Ok(()) => {
                    log.add(Difference { after: None, ..difference.clone() }, None);
                    Ok(())
                }
                // What is ignored there is not ours to remove.
                Err(Errno::NOENT | Errno::NOTEMPTY) => Ok(()),
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
        let mode = mode_of(&place, aside, path)?;
        unlinkat(&place, aside, AtFlags::empty()).map_err(|errno| failed(path, errno))?;
        log.add(Difference { after: None, ..difference.clone() }, mode);
        Ok(())
    }

    fn put(&self, difference: &Difference, aside: &str, log: &mut Log) -> Result<(), Cut> {
        self.prepare(difference, aside, log)?;
        self.place(difference, aside, log)
    }

    /// What is to be put there, under a name that nobody knows.
    fn prepare(&self, difference: &Difference, aside: &str, log: &mut Log) -> Result<(), Cut> {
        let Difference { path, before, .. } = difference;
        let Some(after) = leaf(&difference.after) else { return Ok(()) };
        let place = self.make_parent(path, log)?;
        let mode = match leaf(before).filter(|former| former.mode != Mode::Symlink) {
            Some(former) => mode_of(&place, &former.name, path)?,
            None => None,
        };
        self.make(after, mode, &place, aside, path)
    }

    /// Gives what was prepared its name.
    fn place(&self, difference: &Difference, aside: &str, log: &mut Log) -> Result<(), Cut> {
        let Difference { path, before, after } = difference;
        let Some(after) = after else { return Ok(()) };
        if after.mode == Mode::Folder {
            return self.make_folder(path, log).map(drop);
        }
        let place = self.open_parent(path)?;
        let Some(former) = leaf(before) else {
            rename(&place, aside, &after.name, RenameFlags::NOREPLACE, path).inspect_err(|_| discard(&place, aside))?;
            log.add(Difference { before: None, ..difference.clone() }, None);
            return Ok(());
        };
        let swapping = Swapping { place: &place, aside, name: &after.name, path };
        let (ours, mode) = (swapping.aside_is()?, mode_of(&place, &after.name, path)?);
        swapping.swap().inspect_err(|_| discard(&place, aside))?;
        log.add(difference.clone(), mode);
        // Aside stands now what was there at that very moment.
        if !self.is_still(former, &place, aside, path)? {
            swapping.put_back(ours)?;
            log.0.pop();
            discard(&place, aside);
            return Err(Cut::Moved);
        }
        discard(&place, aside);
        Ok(())
    }

    /// The new content under a name that nobody knows. `mode`: the permissions of what it replaces.
    fn make(&self, node: &Node, mode: Option<u32>, place: &OwnedFd, aside: &str, path: &Path) -> Result<(), Cut> {
        let error = |errno| failed(path, errno);
        if node.mode == Mode::Symlink {
            let target = self.filling.objects.read(node.digest).map_err(Cut::Failed)?;
            return symlinkat(target.as_slice(), place, aside).map_err(error);
        }
        let temporary = Temporary::create_named(place, aside).map_err(error)?;
        let copied = self.filling.objects.copy(node.digest, &temporary.file, self.filling.should_stop);
        copied.map_err(|error| match error {
            // Nothing is written into the store here.
            Error::NoSpace { .. } => Cut::Failed(Error::NoSpace { path: shown(path) }),
            error => Cut::Failed(error),
        })?;
        let mode = match mode {
            Some(mode) => mode,
            None => Metadata::of(&temporary.file).map_err(error)?.mode & 0o777,
        };
        let mode = match node.mode {
            Mode::Executable if mode & 0o111 == 0 => mode | (mode & 0o444) >> 2,
            Mode::Executable => mode,
            _ => mode & !0o111,
        };
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

    fn make_parent(&self, path: &Path, log: &mut Log) -> Result<OwnedFd, Cut> {
        self.make_folder(path.parent().unwrap_or(Path::new("")), log)
    }

    fn make_folder(&self, path: &Path, log: &mut Log) -> Result<OwnedFd, Cut> {
        let error = |errno| failed(path, errno);
        let mut here = open(&self.root.folder, Path::new(".")).map_err(error)?;
        let mut so_far = PathBuf::new();
        for part in path.components() {
            so_far.push(part);
            let name = Path::new(part.as_os_str());
            match mkdirat(&here, name, Permissions::from_raw_mode(0o777)) {
                Ok(()) => log.add_folder(&so_far),
                Err(Errno::EXIST) => {}
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

fn leaf(node: &Option<Node>) -> Option<&Node> {
    node.as_ref().filter(|node| node.mode != Mode::Folder)
}

fn mode_of(place: &OwnedFd, name: impl AsRef<Path>, path: &Path) -> Result<Option<u32>, Cut> {
    let found = Metadata::at(place, name.as_ref()).map_err(|errno| failed(path, errno))?;
    Ok((found.kind == Kind::File).then_some(found.mode & 0o777))
}

fn moved(path: &Path) -> Error {
    Error::Io { path: shown(path), source: std::io::Error::other("changed while it was being replaced") }
}

fn parent(path: &Path) -> PathBuf {
    Path::new(".").join(path.parent().unwrap_or(Path::new("")))
}

fn open(root: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(root, path, OPEN_FOLDER, Permissions::empty(), how)
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
