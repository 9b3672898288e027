//! Blobs: bytes named by their digest, within a tenant. A blob is *staged* first, which puts a large one safely on disk,
//! and exists from the commit that carries it; so whatever refers to a blob can be in the same commit. Its taint only ever
//! rises: the same bytes from a worse source make them worse. What nothing refers to any more is forgotten by a commit
//! (`Commit::forgotten`), and swept away later: what was staged a moment ago looks the same as what nobody wants.

use std::time::Duration;

use windlass_domain::{Digest, Taint, Tenant, Wall};

use crate::commit::Commit;
use crate::error::Error;
use crate::store::Store;

/// From this size a blob is a file of its own where the provider has files: beyond it SQLite reads and writes slower than
/// the file system does, and the log would carry every byte twice.
pub const LARGE: usize = 64 * 1024;

/// A staged blob, ready to be committed. Only a provider makes one.
#[derive(Debug, Clone)]
pub struct NewBlob {
    digest: Digest,
    size: u64,
    taint: Taint,
    body: Body,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    Inline(Vec<u8>),
    /// In a file that is synced already.
    File,
    /// In rows that are committed already, under this number.
    Parts(u128),
    /// The tenant has it already.
    There,
}

impl NewBlob {
    pub(crate) fn inline(bytes: Vec<u8>, taint: Taint) -> Self {
        Self { digest: Digest::of(&bytes), size: bytes.len() as u64, taint, body: Body::Inline(bytes) }
    }

    pub(crate) const fn in_file(digest: Digest, size: u64, taint: Taint) -> Self {
        Self { digest, size, taint, body: Body::File }
    }

    pub(crate) const fn in_parts(digest: Digest, size: u64, taint: Taint, body: u128) -> Self {
        Self { digest, size, taint, body: Body::Parts(body) }
    }

    pub(crate) const fn there(digest: Digest, size: u64, taint: Taint) -> Self {
        Self { digest, size, taint, body: Body::There }
    }

    pub const fn digest(&self) -> Digest {
        self.digest
    }

    pub const fn size(&self) -> u64 {
        self.size
    }

    pub const fn taint(&self) -> Taint {
        self.taint
    }

    pub(crate) const fn body(&self) -> &Body {
        &self.body
    }

    pub(crate) const fn inline_bytes(&self) -> usize {
        match &self.body {
            Body::Inline(bytes) => bytes.len(),
            Body::File | Body::Parts(_) | Body::There => 0,
        }
    }
}

/// How long a file that no row names is left alone: whoever staged it commits it long before.
pub const STAGED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// What sweeping took away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    pub files: u64,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    pub bytes: Vec<u8>,
    pub taint: Taint,
}

/// Stages and commits a blob that nothing refers to yet. Where a commit is about to be made anyway, put the staged blob
/// into that one: it saves a sync.
pub async fn put(store: &dyn Store, tenant: &Tenant, bytes: Vec<u8>, taint: Taint, at: Wall) -> Result<Digest, Error> {
    let blob = store.stage_blob(tenant, bytes, taint).await?;
    let digest = blob.digest();
    let mut commit = Commit::unfenced(tenant.clone(), at);
    commit.blobs.push(blob);
    store.commit(commit).await?;
    Ok(digest)
}
