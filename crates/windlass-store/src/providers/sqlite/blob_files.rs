//! Large blobs as files: `blobs/<tenant>/<digest>`, the tenant as a digest too, since its name may be no file name. A file is
//! written under a temporary name, synced, renamed, and its folder synced, so one that has its name is whole. What a crash
//! leaves behind without a row in the database is never read. Blocking.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use windlass_domain::{Digest, Tenant};

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
        if !is_whole(&path, bytes.len()).map_err(trouble)? {
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

fn is_whole(path: &Path, size: usize) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(found.len() == size as u64),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
