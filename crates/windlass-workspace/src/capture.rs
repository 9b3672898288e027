//! Taking a snapshot: down through the folders, every file into the object store. Of a baseline, files that the cache knows
//! are not read again; of a candidate every one is, since an agent may know how to fool the cache. Files may
//! change meanwhile; each is then kept as it was read, and one that will not hold still is kept as last read. Pipes,
//! sockets and devices have no content and are left out; so is every `.git`, which is noted instead.

use std::fs::File;
use std::io::{Read, Seek, Take};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use windlass_domain::{Digest, TreeId};

use crate::cache::{Cache, Known};
use crate::error::Error;
use crate::folder::{Entry, Folder, Rules};
use crate::ignores::Ignored;
use crate::kept_rules::KeptRules;
use crate::objects::{Batch, Objects};
use crate::path::shown;
use crate::snapshot::Snapshot;
use crate::stat::{Identity, Kind, Metadata, Timestamp};
use crate::stream::ShouldStop;
use crate::tally::Tally;
use crate::tree::{Mode, Node, encode};

/// Larger files are streamed, and can be stopped in the middle.
const HELD_IN_MEMORY: u64 = 1024 * 1024;

/// How often a file that changes while it is read is read again.
const MOST_READS: usize = 3;

pub(crate) struct Capture<'a> {
    objects: &'a Objects,
    batch: Batch<'a>,
    began: Timestamp,
    before: &'a Cache,
    after: Cache,
    tally: Tally,
    should_stop: ShouldStop<'a>,
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
    /// `before` holds what need not be read.
    pub fn begin(
        objects: &'a Objects,
        before: &'a Cache,
        tally: Tally,
        never: Identity,
        should_stop: ShouldStop<'a>,
    ) -> Result<Self, Error> {
        let batch = Batch::begin(objects)?;
        let began = batch.began()?;
        let (after, noted) = (Cache::default(), KeptRules::default());
        Ok(Self { objects, batch, began, before, after, tally, should_stop, noted, never })
    }

    /// Everything below `top`, passing over what `rules` say.
    pub fn run(mut self, top: OwnedFd, rules: &Rules) -> Result<Captured, Error> {
        let again = top.try_clone().map_err(|error| Error::ours("the workspace", error))?;
        self.survey(&Folder::top(again, rules), &mut Tally::new(self.tally.limits()))?;
        let tree = self.folder(&Folder::top(top, rules))?;
        self.noted.note_tracked(Arc::clone(&rules.tracked));
        let under = match &rules.ignored {
            Ignored::ByKept(kept) => kept,
            Ignored::ByLive | Ignored::Nothing => &self.noted,
        };
        let id = Snapshot::store(&mut self.batch, tree, under)?;
        self.should_stop.heed()?;
        self.batch.commit()?;
        Ok(Captured { id, found: self.noted, cache: self.after })
    }

    /// Whether all of it is little enough, before the first byte is read. It is counted once more on the way, for it may
    /// grow.
    fn survey(&self, folder: &Folder<'_>, tally: &mut Tally) -> Result<(), Error> {
        for entry in folder.list()?.entries {
            self.should_stop.heed()?;
            let size = match entry.kind {
                Kind::File => folder.metadata(&entry)?.map_or(0, |metadata| metadata.size),
                Kind::Folder | Kind::Symlink | Kind::Other => 0,
            };
            tally.count(&entry.path, size)?;
            if entry.kind == Kind::Folder
                && let Some(inner) = self.enter(folder, &entry)?
            {
                self.survey(&inner, tally)?;
            }
        }
        Ok(())
    }

    /// Steps into a folder, unless it is the data folder.
    fn enter<'rules>(&self, folder: &Folder<'rules>, entry: &Entry) -> Result<Option<Folder<'rules>>, Error> {
        let inner = folder.enter(&entry.name)?;
        Ok(inner.filter(|inner| Metadata::of(inner).map(|found| found.identity) != Ok(self.never)))
    }

    fn folder(&mut self, folder: &Folder<'_>) -> Result<Digest, Error> {
        self.noted.note_files(folder.path(), folder.rule_files());
        let listing = folder.list()?;
        if let Some(git) = listing.git
            && !is_empty(folder, &git)?
        {
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
        self.should_stop.heed()?;
        if entry.kind != Kind::File {
            self.tally.count(&entry.path, 0)?;
        }
        match entry.kind {
            Kind::File => self.file(folder, entry),
            Kind::Symlink => match folder.link_target(entry)? {
                Some(target) => Ok(Some((Mode::Symlink, self.batch.put(&target)?))),
                None => Ok(None),
            },
            Kind::Folder => match self.enter(folder, entry)? {
                Some(inner) => Ok(Some((Mode::Folder, self.folder(&inner)?))),
                None => Ok(None),
            },
            Kind::Other => Ok(None),
        }
    }

    fn file(&mut self, folder: &Folder<'_>, entry: &Entry) -> Result<Option<(Mode, Digest)>, Error> {
        let Some(metadata) = folder.metadata(entry)? else {
            return Ok(None);
        };
        self.tally.count(&entry.path, metadata.size)?;
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
            return self.batch.put_stream(&mut content, self.should_stop);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(content.limit()).unwrap_or(0));
        content.read_to_end(&mut bytes).map_err(|error| Error::from_io(shown(&entry.path), error))?;
        self.batch.put(&bytes)
    }
}

/// A `.git` with nothing in it is no repository: sandboxes hold the name with one while they are open.
fn is_empty(folder: &Folder<'_>, git: &Entry) -> Result<bool, Error> {
    let Some(inner) = folder.enter(&git.name)? else { return Ok(false) };
    let listing = inner.list()?;
    Ok(listing.entries.is_empty() && listing.git.is_none())
}
