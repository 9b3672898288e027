//! Content by digest, in plain files that all tasks of a data folder share. An object is written into a staging folder,
//! synced, and only then renamed to its digest: whatever bears a digest as its name is whole, also after a power cut, and
//! later snapshots may rely on it without reading it. Reading verifies. Zeros are kept as holes, and only the owner may read.
//!
//! A staging folder is locked by the process that fills it; one whose lock is free was left by a crash and is removed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    FlockOperation, Mode, OFlags, fchmod, flock, fsync, ioctl_ficlone, mkdirat, openat, renameat, syncfs,
};
use rustix::io::Errno;
use windlass_domain::Digest;

use crate::error::Error;
use crate::files::{Temporary, make_private_folder, names, open_file, open_folder, remove_all, temporary_name};
use crate::hash;
use crate::materialise::create;
use crate::root::{is_temporary, open_trusted};
use crate::stat::{Metadata, Timestamp};
use crate::stream::{Cut, ShouldStop, Sparse};

const OBJECTS: &str = "objects";
const WHERE: &str = "the snapshot store";

/// Nobody changes an object.
const READ_ONLY: u32 = 0o400;

/// Up to this many new objects are synced one by one. Beyond it one sync of the whole file system is cheaper, though it
/// waits for what other programs wrote too.
const FEW: usize = 16;

/// Up to this size an object is read in one call; beyond it in pieces, between which it can be stopped.
const HELD_IN_MEMORY: u64 = 256 * 1024;

/// From this size on, sharing blocks is worth a try.
const WORTH_CLONING: u64 = 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Objects {
    folder: OwnedFd,
}

impl Objects {
    pub fn open(data: &Path) -> Result<Self, Error> {
        let folder = data.join(OBJECTS);
        make_private_folder(&folder).map_err(|error| Error::ours(WHERE, error))?;
        let objects = Self { folder: open_trusted(&folder).map_err(failed)? };
        objects.remove_dead_staging()?;
        Ok(objects)
    }

    /// The size of a stored object.
    pub fn size(&self, digest: Digest) -> Result<Option<u64>, Error> {
        match Metadata::at(&self.folder, &place(digest)) {
            Ok(metadata) => Ok(Some(metadata.size)),
            Err(Errno::NOENT) => Ok(None),
            Err(other) => Err(failed(other)),
        }
    }

    pub fn read(&self, digest: Digest) -> Result<Vec<u8>, Error> {
        let (object, size) = self.open_object(digest)?;
        read_whole(object, size, digest)
    }

    /// Fills the new file `to`. What was written is what is verified.
    pub fn copy(&self, digest: Digest, to: &File, should_stop: ShouldStop<'_>) -> Result<(), Error> {
        let (mut object, size) = self.open_object(digest)?;
        if size <= HELD_IN_MEMORY {
            let bytes = read_whole(object, size, digest)?;
            return write_sparse(&bytes, to).map_err(|error| Error::ours(WHERE, error));
        }
        let found = if size >= WORTH_CLONING && ioctl_ficlone(to, &object).is_ok() {
            hash::of_file(&mut object, should_stop).map_err(cut)?
        } else {
            copy_sparse(&mut object, to, should_stop).map_err(cut)?.0
        };
        if found == digest { Ok(()) } else { Err(damaged(digest)) }
    }

    /// And how long it is.
    fn open_object(&self, digest: Digest) -> Result<(File, u64), Error> {
        match open_file(&self.folder, &place(digest)) {
            Ok(Some((file, metadata))) => Ok((file, metadata.size)),
            Ok(None) | Err(Errno::NOENT) => Err(damaged(digest)),
            Err(other) => Err(failed(other)),
        }
    }

    fn remove_dead_staging(&self) -> Result<(), Error> {
        for (name, _) in names(&self.folder).map_err(failed)? {
            let path = Path::new(&name);
            if is_temporary(&name)
                && let Ok(folder) = open_folder(&self.folder, path)
                && flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok()
            {
                // Two processes may be sweeping; who comes second finds nothing.
                let _ = remove_all(&self.folder, path);
            }
        }
        Ok(())
    }
}

/// Objects on their way in: all of them are kept, or none.
pub(crate) struct Batch<'a> {
    objects: &'a Objects,
    folder: OwnedFd,
    name: String,
    staged: BTreeSet<Digest>,
}

impl<'a> Batch<'a> {
    pub fn begin(objects: &'a Objects) -> Result<Self, Error> {
        loop {
            let name = temporary_name();
            mkdirat(&objects.folder, name.as_str(), Mode::from_raw_mode(0o700)).map_err(failed)?;
            if let Some(folder) = claim(objects, &name) {
                return Ok(Self { objects, folder, name, staged: BTreeSet::new() });
            }
        }
    }

    /// The file system's time when this batch began: what changes from now on gets this time or a later one.
    pub fn began(&self) -> Result<Timestamp, Error> {
        Metadata::of(&self.folder).map(|metadata| metadata.changed).map_err(failed)
    }

    pub fn put(&mut self, bytes: &[u8]) -> Result<Digest, Error> {
        let digest = Digest::of(bytes);
        if !self.has(digest, bytes.len() as u64)? {
            // Under its digest at once: who writes fifty thousand of them feels every call. Half of one is never committed, since
            // only what is whole is in `staged`.
            let name = digest.to_string();
            let file = create(&self.folder, Path::new(&name), READ_ONLY).map_err(failed)?;
            write_sparse(bytes, &file).map_err(|error| Error::ours(WHERE, error))?;
            self.staged.insert(digest);
        }
        Ok(digest)
    }

    /// For what is too large to hold.
    pub fn put_stream(&mut self, from: &mut impl Read, should_stop: ShouldStop<'_>) -> Result<Digest, Error> {
        let temporary = Temporary::create_private(&self.folder).map_err(failed)?;
        let (digest, length) = copy_sparse(from, &temporary.file, should_stop).map_err(cut)?;
        if !self.has(digest, length)? {
            fchmod(&temporary.file, Mode::from_raw_mode(READ_ONLY)).map_err(failed)?;
            temporary.rename(Path::new(&digest.to_string())).map_err(failed)?;
            self.staged.insert(digest);
        }
        Ok(digest)
    }

    /// Makes everything durable. Nothing is known by its digest before its bytes are on the disk.
    pub fn commit(mut self) -> Result<(), Error> {
        let staged = std::mem::take(&mut self.staged);
        if staged.is_empty() {
            return Ok(());
        }
        self.sync(staged.iter().map(|digest| (&self.folder, PathBuf::from(digest.to_string()))), staged.len())?;
        let mut homes = BTreeSet::new();
        for digest in &staged {
            let home = home(*digest);
            if homes.insert(home.clone()) {
                make_home(&self.objects.folder, &home)?;
            }
            renameat(&self.folder, digest.to_string(), &self.objects.folder, place(*digest)).map_err(failed)?;
        }
        self.sync(homes.iter().map(|home| (&self.objects.folder, PathBuf::from(home))), homes.len())?;
        fsync(&self.objects.folder).map_err(failed)
    }

    fn has(&self, digest: Digest, size: u64) -> Result<bool, Error> {
        Ok(self.staged.contains(&digest) || self.objects.size(digest)? == Some(size))
    }

    fn sync<'b>(&self, names: impl Iterator<Item = (&'b OwnedFd, PathBuf)>, count: usize) -> Result<(), Error> {
        if count > FEW {
            return syncfs(&self.objects.folder).map_err(failed);
        }
        for (folder, name) in names {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let file = openat(folder, &name, flags, Mode::empty()).map_err(failed)?;
            fsync(file).map_err(failed)?;
        }
        Ok(())
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // Left over only by a failure, and then the next `open` takes it away.
        let _ = remove_all(&self.objects.folder, Path::new(&self.name));
    }
}

fn read_whole(mut object: File, size: u64, digest: Digest) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; usize::try_from(size).map_err(|_| damaged(digest))?];
    match object.read_exact(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(damaged(digest)),
        read => read.map_err(|error| Error::ours(WHERE, error))?,
    }
    if Digest::of(&bytes) == digest { Ok(bytes) } else { Err(damaged(digest)) }
}

fn write_sparse(bytes: &[u8], to: &File) -> io::Result<()> {
    let mut sparse = Sparse::new(to);
    sparse.write_all(bytes)?;
    sparse.finish()
}

fn copy_sparse(from: &mut impl Read, to: &File, should_stop: ShouldStop<'_>) -> Result<(Digest, u64), Cut> {
    let mut sparse = Sparse::new(to);
    let copied = hash::copy(from, &mut sparse, should_stop)?;
    sparse.finish()?;
    Ok(copied)
}

/// Locks a staging folder just made, unless a sweeping process was quicker and took it for a dead one.
fn claim(objects: &Objects, name: &str) -> Option<OwnedFd> {
    let folder = open_folder(&objects.folder, Path::new(name)).ok()?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive).ok()?;
    let (here, there) = (Metadata::of(&folder).ok()?, Metadata::at(&objects.folder, Path::new(name)).ok()?);
    (here.identity == there.identity).then_some(folder)
}

fn make_home(objects: &OwnedFd, home: &str) -> Result<(), Error> {
    match mkdirat(objects, home, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(other) => Err(failed(other)),
    }
}

fn home(digest: Digest) -> String {
    format!("{:02x}", digest.as_bytes()[0])
}

fn place(digest: Digest) -> PathBuf {
    let hex = digest.to_string();
    Path::new(&hex[..2]).join(&hex[2..])
}

fn failed(errno: Errno) -> Error {
    Error::ours(WHERE, errno.into())
}

fn cut(cut: Cut) -> Error {
    match cut {
        Cut::Stopped => Error::Stopped,
        Cut::Io(error) => Error::ours(WHERE, error),
    }
}

fn damaged(digest: Digest) -> Error {
    Error::Damaged { digest: digest.to_string() }
}
