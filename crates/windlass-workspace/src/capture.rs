//! Taking a snapshot: down through the folders, unchanged files by the cache, the rest into the object store. Files may
//! change meanwhile; each is then kept as it was read, and one that will not hold still is kept as last read. Pipes,
//! sockets and devices have no content and are left out; so is every `.git`, which is noted instead.

use std::fs::File;
use std::io::{Read, Seek, Take};
use std::os::fd::OwnedFd;

use windlass_domain::{Digest, TreeId};

use crate::cache::{Cache, Known};
use crate::error::Error;
use crate::folder::{Entry, Folder, Rules};
use crate::ignores::Ignored;
use crate::kept_rules::KeptRules;
use crate::objects::{Batch, Objects};
use crate::path::shown;
use crate::snapshot::Snapshot;
use crate::snapshots::SnapshotLimits;
use crate::stat::{Identity, Kind, Metadata, Timestamp};
use crate::tree::{Mode, Node, encode};

/// Larger files are streamed.
const HELD_IN_MEMORY: u64 = 4 * 1024 * 1024;

/// How often a file that changes while it is read is read again.
const MOST_READS: usize = 3;

pub(crate) struct Capture<'a> {
    objects: &'a Objects,
    batch: Batch<'a>,
    began: Timestamp,
    before: &'a Cache,
    after: Cache,
    limits: SnapshotLimits,
    files: u64,
    bytes: u64,
    noted: KeptRules,
    /// The data folder itself, should it lie in the workspace.
    never: Identity,
}

/// A capture that is durable.
pub(crate) struct Captured {
    pub id: TreeId,
    /// The rules that held, and every `.git` on the way.
    pub found: KeptRules,
    /// What to remember for the next time.
    pub cache: Cache,
}

impl<'a> Capture<'a> {
    pub fn begin(
        objects: &'a Objects,
        before: &'a Cache,
        limits: SnapshotLimits,
        never: Identity,
    ) -> Result<Self, Error> {
        let batch = Batch::begin(objects)?;
        let began = batch.began()?;
        let (after, noted) = (Cache::default(), KeptRules::default());
        Ok(Self { objects, batch, began, before, after, limits, files: 0, bytes: 0, noted, never })
    }

    /// Everything below `top`, passing over what `rules` say.
    pub fn run(mut self, top: OwnedFd, rules: &Rules) -> Result<Captured, Error> {
        let tree = self.folder(&Folder::top(top, rules))?;
        let under = match &rules.ignored {
            Ignored::ByKept(kept) => kept,
            Ignored::ByLive | Ignored::Nothing => &self.noted,
        };
        let id = Snapshot::store(&mut self.batch, tree, under)?;
        self.batch.commit()?;
        Ok(Captured { id, found: self.noted, cache: self.after })
    }

    fn folder(&mut self, folder: &Folder<'_>) -> Result<Digest, Error> {
        self.noted.note_files(folder.path(), folder.rule_files());
        let listing = folder.list()?;
        if let Some(git) = listing.git {
            self.noted.note_repository(git.path);
        }
        let mut nodes = Vec::new();
        for entry in listing.entries {
            if let Some((mode, digest)) = self.entry(folder, &entry)? {
                nodes.push(Node { name: entry.name, mode, digest });
            }
        }
        self.batch.put(&encode(&nodes))
    }

    fn entry(&mut self, folder: &Folder<'_>, entry: &Entry) -> Result<Option<(Mode, Digest)>, Error> {
        match entry.kind {
            Kind::File => self.file(folder, entry),
            Kind::Symlink => match folder.link_target(entry)? {
                Some(target) => Ok(Some((Mode::Symlink, self.batch.put(&target)?))),
                None => Ok(None),
            },
            Kind::Folder => match folder.enter(&entry.name)? {
                Some(inner) if Metadata::of(&inner).map(|found| found.identity) != Ok(self.never) => {
                    Ok(Some((Mode::Folder, self.folder(&inner)?)))
                }
                _ => Ok(None),
            },
            Kind::Other => Ok(None),
        }
    }

    fn file(&mut self, folder: &Folder<'_>, entry: &Entry) -> Result<Option<(Mode, Digest)>, Error> {
        let Some(metadata) = folder.metadata(entry)? else {
            return Ok(None);
        };
        self.charge(metadata.size)?;
        if let Some(known) = self.before.unchanged(&entry.path, &metadata)
            && self.objects.size(known.digest)? == Some(metadata.size)
        {
            return Ok(Some(self.keep(entry, &metadata, known.digest)));
        }
        let Some((mut file, _)) = folder.open_file(entry)? else {
            return Ok(None);
        };
        let (metadata, digest) = self.store(&mut file, entry)?;
        Ok(Some(self.keep(entry, &metadata, digest)))
    }

    fn charge(&mut self, size: u64) -> Result<(), Error> {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(size);
        if self.files > self.limits.files {
            return Err(Error::TooMuch { cap: self.limits.files, unit: "files" });
        }
        if self.bytes > self.limits.bytes {
            return Err(Error::TooMuch { cap: self.limits.bytes, unit: "bytes" });
        }
        Ok(())
    }

    fn keep(&mut self, entry: &Entry, metadata: &Metadata, digest: Digest) -> (Mode, Digest) {
        self.after.remember(&entry.path, Known::new(metadata, digest), self.began);
        let mode = if metadata.is_executable() { Mode::Executable } else { Mode::File };
        (mode, digest)
    }

    fn store(&mut self, file: &mut File, entry: &Entry) -> Result<(Metadata, Digest), Error> {
        let look = |file: &File| Metadata::of(file).map_err(|errno| Error::from_errno(shown(&entry.path), errno));
        let mut before = look(file)?;
        let mut reads = 1;
        loop {
            // Never more than the size it had: a file that does not stop growing would not stop being read.
            let digest = self.store_once(Read::take(&mut *file, before.size), entry)?;
            let after = look(file)?;
            if after == before || reads == MOST_READS {
                return Ok((after, digest));
            }
            (before, reads) = (after, reads + 1);
            file.rewind().map_err(|error| Error::from_io(shown(&entry.path), error))?;
        }
    }

    fn store_once(&mut self, mut content: Take<&mut File>, entry: &Entry) -> Result<Digest, Error> {
        if content.limit() > HELD_IN_MEMORY {
            return self.batch.put_stream(&mut content);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(content.limit()).unwrap_or(0));
        content.read_to_end(&mut bytes).map_err(|error| Error::from_io(shown(&entry.path), error))?;
        self.batch.put(&bytes)
    }
}
