//! Large blobs as files: `blobs/<tenant>/<digest>`, the tenant as a digest too, since its name may be no file name. A file is
//! written under a temporary name, synced, renamed, and its folder synced, so one that has its name is whole. What a crash
//! leaves behind without a row in the database is never read, and is swept away when it is old: a file is as old as the last time
//! that somebody staged it. Staging and sweeping take turns by a lock. Blocking.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FlockOperation, Timespec, Timestamps, UTIME_NOW, flock, futimens};
use windlass_domain::{Digest, Tenant, Wall, millis};

use crate::blob::STAGED_FOR;
use crate::error::Error;
use crate::providers::sqlite::create::sync;
use crate::providers::sqlite::halt::Trust;

#[derive(Clone)]
pub(super) struct BlobFiles {
    root: PathBuf,
    trust: Trust,
}

impl BlobFiles {
    pub(super) const fn new(root: PathBuf, trust: Trust) -> Self {
        Self { root, trust }
    }

    /// `unique` keeps apart those who write the same blob at the same time.
    pub(super) fn write(&self, tenant: &Tenant, digest: Digest, bytes: &[u8], unique: u128) -> Result<(), Error> {
        self.trust.check()?;
        let folder = self.folder(tenant);
        let path = folder.join(digest.to_string());
        let unnamed = folder.join(format!("{unique:032x}.new"));
        let trouble = |error: io::Error| Error::from_io(&path, &error);
        self.create_folder(&folder)?;
        let _nobody_sweeps = self.lock(FlockOperation::LockShared)?;
        if is_whole(&path, bytes.len()).map_err(trouble)? {
            make_young(&path).map_err(trouble)?;
        } else {
            let written = self.write_synced(&unnamed, bytes);
            if let Err(error) = written.and_then(|()| std::fs::rename(&unnamed, &path).map_err(trouble)) {
                // What cannot be removed either is never read.
                let _ = std::fs::remove_file(&unnamed);
                return Err(error);
            }
        }
        // Also when the file was there: whoever made it may not have come so far yet.
        self.synced(&folder, sync(&folder))
    }

    pub(super) fn read(&self, tenant: &Tenant, digest: Digest) -> Result<Vec<u8>, Error> {
        let path = self.folder(tenant).join(digest.to_string());
        let damaged = |detail: &str| Error::Corrupt { path: path.clone(), detail: detail.to_owned() };
        let bytes = std::fs::read(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => damaged("the blob's file is missing"),
            _ => Error::from_io(&path, &error),
        })?;
        if Digest::of(&bytes) != digest {
            return Err(damaged("the blob's bytes are not those its name stands for"));
        }
        Ok(bytes)
    }

    /// Files that nobody has staged for a long time, whoever's they are, and what was left half written.
    pub(super) fn old(&self, now: Wall) -> Result<Vec<OldFile>, Error> {
        let mut old = Vec::new();
        for folder in entries(&self.root)?.into_iter().filter(|path| path.is_dir()) {
            for path in entries(&folder)? {
                if is_old(&path, now) {
                    let digest = path.file_name().and_then(|name| name.to_str()?.parse().ok());
                    old.push(OldFile { folder: folder.clone(), path, digest });
                }
            }
        }
        Ok(old)
    }

    /// The bytes that went; `None`: somebody has staged it since.
    pub(super) fn remove_if_old(&self, found: &OldFile, now: Wall) -> Result<Option<u64>, Error> {
        let _nobody_stages = self.lock(FlockOperation::LockExclusive)?;
        if !is_old(&found.path, now) {
            return Ok(None);
        }
        let bytes = std::fs::metadata(&found.path).map_or(0, |found| found.len());
        std::fs::remove_file(&found.path).map_err(|error| Error::from_io(&found.path, &error))?;
        Ok(Some(bytes))
    }

    fn lock(&self, how: FlockOperation) -> Result<File, Error> {
        let path = self.root.with_extension("lock");
        let attempt = || {
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
            flock(&file, how)?;
            Ok(file)
        };
        attempt().map_err(|error: io::Error| Error::from_io(&path, &error))
    }

    fn folder(&self, tenant: &Tenant) -> PathBuf {
        self.root.join(Digest::of(tenant.as_str().as_bytes()).to_string())
    }

    fn create_folder(&self, folder: &Path) -> Result<(), Error> {
        if folder.is_dir() {
            return Ok(());
        }
        let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        created.map_err(|error| Error::from_io(folder, &error))?;
        let above = self.root.parent().unwrap_or(&self.root);
        self.synced(&self.root, sync(&self.root))?;
        self.synced(above, sync(above))
    }

    fn write_synced(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let write = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            file.write_all(bytes)?;
            Ok(file)
        };
        let file: File = write().map_err(|error| Error::from_io(path, &error))?;
        self.synced(path, file.sync_all())
    }

    /// A sync that failed is not tried again: the second may say "done" of what the first has lost.
    fn synced(&self, path: &Path, outcome: io::Result<()>) -> Result<(), Error> {
        outcome.map_err(|error| match Error::from_io(path, &error) {
            full @ Error::DiskFull { .. } => full,
            _ => self.trust.halt(format!("{}: {error}", path.display())),
        })
    }
}

/// A file in the folder of a tenant.
pub(super) struct OldFile {
    folder: PathBuf,
    path: PathBuf,
    /// What its name stands for; none for what was left half written.
    pub(super) digest: Option<Digest>,
}

impl OldFile {
    pub(super) fn is_of(&self, tenant: &Tenant) -> bool {
        self.folder.ends_with(Digest::of(tenant.as_str().as_bytes()).to_string())
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let attempt =
        || -> io::Result<Vec<PathBuf>> { std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect() };
    match attempt() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        found => found.map_err(|error| Error::from_io(folder, &error)),
    }
}

fn is_old(path: &Path, now: Wall) -> bool {
    let changed = || std::fs::metadata(path).ok()?.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok();
    changed().is_some_and(|changed| now.since(Wall::from_millis(millis(changed))) > STAGED_FOR)
}

fn make_young(path: &Path) -> io::Result<()> {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let times = Timestamps { last_access: now, last_modification: now };
    Ok(futimens(File::open(path)?, &times)?)
}

fn is_whole(path: &Path, size: usize) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(found.len() == size as u64),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
