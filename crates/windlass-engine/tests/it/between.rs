//! A store at which a test stands: before a stream is read, somebody else does something; and for a moment it cannot be reached. What
//! happens between two reads then happens there each time, and not now and then.

use std::sync::{Arc, Mutex};

use windlass_domain::{BoxFuture, Digest, MessageId, OwnerId, Seq, Taint, Tenant, Wall};
use windlass_store::sqlite::SqliteStore;
use windlass_store::{
    Blob, ChainHead, Commit, Committed, Delayed, Depth, Error, LeaseName, LeaseRow, LeasedMessage, Link, Marker,
    NewBlob, Next, Notifier, OwnerRow, Position, Reply, Snapshot, Store, StoredEvent, StoredMessage, StoredTimer,
    StreamHead, StreamId, Swept,
};

type Deed = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

pub struct Between {
    inner: Arc<SqliteStore>,
    meanwhile: Mutex<Option<(StreamId, Deed)>>,
    /// So many questions about timers are not answered.
    outages: Mutex<usize>,
}

impl Between {
    pub fn new(inner: &Arc<SqliteStore>) -> Arc<Self> {
        Arc::new(Self { inner: Arc::clone(inner), meanwhile: Mutex::default(), outages: Mutex::default() })
    }

    /// What others do before this stream is next read.
    pub fn before(&self, stream: StreamId, deed: impl FnOnce() -> BoxFuture<'static, ()> + Send + 'static) {
        *self.meanwhile.lock().unwrap() = Some((stream, Box::new(deed)));
    }

    /// Whether it came to that.
    pub fn is_done(&self) -> bool {
        self.meanwhile.lock().unwrap().is_none()
    }

    pub fn be_gone(&self, times: usize) {
        *self.outages.lock().unwrap() = times;
    }

    fn due(&self, stream: &StreamId) -> Option<Deed> {
        let mut meanwhile = self.meanwhile.lock().unwrap();
        meanwhile.take_if(|(before, _)| before == stream).map(|(_, deed)| deed)
    }

    fn is_gone(&self) -> bool {
        let mut outages = self.outages.lock().unwrap();
        let is_gone = *outages > 0;
        *outages = outages.saturating_sub(1);
        is_gone
    }
}

impl Store for Between {
    fn commit(&self, commit: Commit) -> Reply<'_, Committed> {
        self.inner.commit(commit)
    }

    fn stream(&self, tenant: &Tenant, stream: &StreamId, after: Seq, limit: usize) -> Reply<'_, Vec<StoredEvent>> {
        let (tenant, stream, deed) = (tenant.clone(), stream.clone(), self.due(stream));
        Box::pin(async move {
            if let Some(deed) = deed {
                deed().await;
            }
            self.inner.stream(&tenant, &stream, after, limit).await
        })
    }

    fn timers_due(&self, tenant: Option<&Tenant>, now: Wall, limit: usize) -> Reply<'_, Vec<StoredTimer>> {
        if self.is_gone() {
            let gone = Error::Unreachable { place: "a server".to_owned(), detail: "gone".to_owned() };
            return Box::pin(std::future::ready(Err(gone)));
        }
        self.inner.timers_due(tenant, now, limit)
    }

    fn events(&self, tenant: &Tenant, after: Position, limit: usize) -> Reply<'_, Vec<StoredEvent>> {
        self.inner.events(tenant, after, limit)
    }

    fn head(&self, tenant: &Tenant, stream: &StreamId) -> Reply<'_, Seq> {
        self.inner.head(tenant, stream)
    }

    fn streams(
        &self,
        tenant: &Tenant,
        kind: &str,
        before: Option<&StreamId>,
        limit: usize,
    ) -> Reply<'_, Vec<StreamHead>> {
        self.inner.streams(tenant, kind, before, limit)
    }

    fn links(&self, tenant: &Tenant, after: Position, limit: usize) -> Reply<'_, Vec<Link>> {
        self.inner.links(tenant, after, limit)
    }

    fn chain_head(&self, tenant: &Tenant) -> Reply<'_, Option<ChainHead>> {
        self.inner.chain_head(tenant)
    }

    fn mailbox(&self, tenant: &Tenant, queue: &str, now: Wall, limit: usize) -> Reply<'_, Vec<StoredMessage>> {
        self.inner.mailbox(tenant, queue, now, limit)
    }

    fn next(&self, queue: &str, after: Option<&Tenant>, now: Wall, limit: usize) -> Reply<'_, Next> {
        self.inner.next(queue, after, now, limit)
    }

    fn leased(&self, queue: &str, limit: usize) -> Reply<'_, Vec<LeasedMessage>> {
        self.inner.leased(queue, limit)
    }

    fn due_delayed(&self, now: Wall) -> Reply<'_, Delayed> {
        self.inner.due_delayed(now)
    }

    fn depth(&self, queue: &str) -> Reply<'_, Depth> {
        self.inner.depth(queue)
    }

    fn dead_letters(&self, tenant: &Tenant, before: Option<MessageId>, limit: usize) -> Reply<'_, Vec<StoredMessage>> {
        self.inner.dead_letters(tenant, before, limit)
    }

    fn message(&self, tenant: &Tenant, message: MessageId) -> Reply<'_, Option<StoredMessage>> {
        self.inner.message(tenant, message)
    }

    fn about(&self, tenant: &Tenant, queue: &str, subject: &StreamId) -> Reply<'_, Vec<StoredMessage>> {
        self.inner.about(tenant, queue, subject)
    }

    fn is_marked(&self, tenant: &Tenant, marker: &Marker) -> Reply<'_, bool> {
        self.inner.is_marked(tenant, marker)
    }

    fn lease(&self, tenant: &Tenant, lease: &LeaseName) -> Reply<'_, Option<LeaseRow>> {
        self.inner.lease(tenant, lease)
    }

    fn owner(&self, owner: OwnerId) -> Reply<'_, Option<OwnerRow>> {
        self.inner.owner(owner)
    }

    fn snapshot(&self, tenant: &Tenant, stream: &StreamId) -> Reply<'_, Option<Snapshot>> {
        self.inner.snapshot(tenant, stream)
    }

    fn stage_blob(&self, tenant: &Tenant, bytes: Vec<u8>, taint: Taint) -> Reply<'_, NewBlob> {
        self.inner.stage_blob(tenant, bytes, taint)
    }

    fn blob(&self, tenant: &Tenant, digest: Digest) -> Reply<'_, Option<Blob>> {
        self.inner.blob(tenant, digest)
    }

    fn blob_size(&self, tenant: &Tenant, digest: Digest) -> Reply<'_, Option<u64>> {
        self.inner.blob_size(tenant, digest)
    }

    fn sweep(&self, now: Wall) -> Reply<'_, Swept> {
        self.inner.sweep(now)
    }

    fn tenants(&self) -> Reply<'_, Vec<Tenant>> {
        self.inner.tenants()
    }

    fn notifier(&self) -> &Notifier {
        self.inner.notifier()
    }
}
