//! A store that counts what is read of it: the rows of journals, how often somebody asked, and the bytes of blobs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use windlass_domain::{Digest, MessageId, OwnerId, Seq, Taint, Tenant, Wall};
use windlass_store::{
    Blob, ChainHead, Commit, Committed, Delayed, Depth, LeaseName, LeaseRow, LeasedMessage, Link, Marker, NewBlob,
    Next, Notifier, OwnerRow, Position, Reply, Snapshot, Store, StoredEvent, StoredMessage, StoredTimer, StreamHead,
    StreamId, Swept,
};

pub struct Counted {
    inner: Arc<dyn Store>,
    put_back: OnceLock<Arc<dyn Store>>,
    rows: AtomicUsize,
    looks: AtomicUsize,
    blobs: AtomicUsize,
}

/// What was read since somebody last asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    pub rows: usize,
    pub looks: usize,
    pub blobs: usize,
}

impl Counted {
    pub fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        let (rows, looks, blobs) = Default::default();
        Arc::new(Self { inner, put_back: OnceLock::new(), rows, looks, blobs })
    }

    /// From now on it is another one.
    pub fn put_back(&self, other: Arc<dyn Store>) {
        assert!(self.put_back.set(other).is_ok(), "it is put back once");
    }

    fn inner(&self) -> &dyn Store {
        &**self.put_back.get().unwrap_or(&self.inner)
    }

    pub fn read(&self) -> Read {
        let taken = |count: &AtomicUsize| count.swap(0, Ordering::SeqCst);
        Read { rows: taken(&self.rows), looks: taken(&self.looks), blobs: taken(&self.blobs) }
    }

    fn counted<'a>(&'a self, reply: Reply<'a, Vec<StoredEvent>>) -> Reply<'a, Vec<StoredEvent>> {
        Box::pin(async move {
            let rows = reply.await?;
            self.looks.fetch_add(1, Ordering::SeqCst);
            self.rows.fetch_add(rows.len(), Ordering::SeqCst);
            Ok(rows)
        })
    }
}

impl Store for Counted {
    fn commit(&self, commit: Commit) -> Reply<'_, Committed> {
        self.inner().commit(commit)
    }

    fn stream(&self, tenant: &Tenant, stream: &StreamId, after: Seq, limit: usize) -> Reply<'_, Vec<StoredEvent>> {
        self.counted(self.inner().stream(tenant, stream, after, limit))
    }

    fn events(&self, tenant: &Tenant, after: Position, limit: usize) -> Reply<'_, Vec<StoredEvent>> {
        self.counted(self.inner().events(tenant, after, limit))
    }

    fn head(&self, tenant: &Tenant, stream: &StreamId) -> Reply<'_, Seq> {
        self.inner().head(tenant, stream)
    }

    fn streams(
        &self,
        tenant: &Tenant,
        kind: &str,
        before: Option<&StreamId>,
        limit: usize,
    ) -> Reply<'_, Vec<StreamHead>> {
        self.inner().streams(tenant, kind, before, limit)
    }

    fn links(&self, tenant: &Tenant, after: Position, limit: usize) -> Reply<'_, Vec<Link>> {
        self.inner().links(tenant, after, limit)
    }

    fn chain_head(&self, tenant: &Tenant) -> Reply<'_, Option<ChainHead>> {
        self.inner().chain_head(tenant)
    }

    fn mailbox(&self, tenant: &Tenant, queue: &str, now: Wall, limit: usize) -> Reply<'_, Vec<StoredMessage>> {
        self.inner().mailbox(tenant, queue, now, limit)
    }

    fn next(&self, queue: &str, after_tenant: Option<&Tenant>, now: Wall, limit: usize) -> Reply<'_, Next> {
        self.inner().next(queue, after_tenant, now, limit)
    }

    fn leased(&self, queue: &str, limit: usize) -> Reply<'_, Vec<LeasedMessage>> {
        self.inner().leased(queue, limit)
    }

    fn due_delayed(&self, now: Wall) -> Reply<'_, Delayed> {
        self.inner().due_delayed(now)
    }

    fn depth(&self, queue: &str) -> Reply<'_, Depth> {
        self.inner().depth(queue)
    }

    fn dead_letters(&self, tenant: &Tenant, before: Option<MessageId>, limit: usize) -> Reply<'_, Vec<StoredMessage>> {
        self.inner().dead_letters(tenant, before, limit)
    }

    fn message(&self, tenant: &Tenant, message: MessageId) -> Reply<'_, Option<StoredMessage>> {
        self.inner().message(tenant, message)
    }

    fn about(&self, tenant: &Tenant, queue: &str, subject: &StreamId) -> Reply<'_, Vec<StoredMessage>> {
        self.inner().about(tenant, queue, subject)
    }

    fn is_marked(&self, tenant: &Tenant, marker: &Marker) -> Reply<'_, bool> {
        self.inner().is_marked(tenant, marker)
    }

    fn timers_due(&self, tenant: Option<&Tenant>, now: Wall, limit: usize) -> Reply<'_, Vec<StoredTimer>> {
        self.inner().timers_due(tenant, now, limit)
    }

    fn lease(&self, tenant: &Tenant, lease: &LeaseName) -> Reply<'_, Option<LeaseRow>> {
        self.inner().lease(tenant, lease)
    }

    fn owner(&self, owner: OwnerId) -> Reply<'_, Option<OwnerRow>> {
        self.inner().owner(owner)
    }

    fn snapshot(&self, tenant: &Tenant, stream: &StreamId) -> Reply<'_, Option<Snapshot>> {
        self.inner().snapshot(tenant, stream)
    }

    fn stage_blob(&self, tenant: &Tenant, bytes: Vec<u8>, taint: Taint) -> Reply<'_, NewBlob> {
        self.inner().stage_blob(tenant, bytes, taint)
    }

    fn blob(&self, tenant: &Tenant, digest: Digest) -> Reply<'_, Option<Blob>> {
        self.blobs.fetch_add(1, Ordering::SeqCst);
        self.inner().blob(tenant, digest)
    }

    fn blob_size(&self, tenant: &Tenant, digest: Digest) -> Reply<'_, Option<u64>> {
        self.inner().blob_size(tenant, digest)
    }

    fn sweep(&self, now: Wall) -> Reply<'_, Swept> {
        self.inner().sweep(now)
    }

    fn tenants(&self) -> Reply<'_, Vec<Tenant>> {
        self.inner().tenants()
    }

    fn notifier(&self) -> &Notifier {
        self.inner().notifier()
    }
}
