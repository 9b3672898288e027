//! The store as one process sees it: the world's, with a passage before every verb and after those that change something. At
//! a passage a process may meet its fate; a world says what that is. A read changes nothing: dying before it and dying after
//! it leave the same world.

use std::sync::Arc;

use windlass_domain::{BoxFuture, Digest, MessageId, OwnerId, Seq, Taint, Tenant, Wall};
use windlass_store::{
    Blob, ChainHead, Commit, Committed, Delayed, Depth, LeaseName, LeaseRow, LeasedMessage, Link, Marker, NewBlob,
    Next, Notifier, OwnerRow, Position, Reply, Snapshot, Store, StoredEvent, StoredMessage, StoredTimer, StreamHead,
    StreamId, Swept,
};

use crate::fuse::{Point, Side};

/// What stands between a process and the store.
pub trait Passage: Send + Sync {
    /// Comes back when the process may go on.
    fn pass(&self, point: Point) -> BoxFuture<'_, ()>;

    /// Gives the commit to the store, or something else, or nothing.
    fn write<'a>(&'a self, store: &'a dyn Store, commit: Commit) -> Reply<'a, Committed>;

    /// Whom a queue's turn begins after.
    fn turn<'a>(&self, after_tenant: Option<&'a Tenant>) -> Option<&'a Tenant> {
        after_tenant
    }
}

pub struct ProcessStore<P> {
    pub passage: P,
    pub inner: Arc<dyn Store>,
}

impl<P: Passage> ProcessStore<P> {
    fn read<'a, T: Send + 'a>(&'a self, verb: &'static str, reply: Reply<'a, T>) -> Reply<'a, T> {
        Box::pin(async move {
            self.passage.pass(Point::Store(verb, Side::Before)).await;
            reply.await
        })
    }

    fn change<'a, T: Send + 'a>(&'a self, verb: &'static str, reply: Reply<'a, T>) -> Reply<'a, T> {
        Box::pin(async move {
            let outcome = self.read(verb, reply).await;
            self.passage.pass(Point::Store(verb, Side::After)).await;
            outcome
        })
    }
}

impl<P: Passage> Store for ProcessStore<P> {
    fn commit(&self, commit: Commit) -> Reply<'_, Committed> {
        self.change("commit", self.passage.write(&*self.inner, commit))
    }

    fn stream(&self, tenant: &Tenant, stream: &StreamId, after: Seq, limit: usize) -> Reply<'_, Vec<StoredEvent>> {
        self.read("stream", self.inner.stream(tenant, stream, after, limit))
    }

    fn events(&self, tenant: &Tenant, after: Position, limit: usize) -> Reply<'_, Vec<StoredEvent>> {
        self.read("events", self.inner.events(tenant, after, limit))
    }

    fn head(&self, tenant: &Tenant, stream: &StreamId) -> Reply<'_, Seq> {
        self.read("head", self.inner.head(tenant, stream))
    }

    fn streams(
        &self,
        tenant: &Tenant,
        kind: &str,
        before: Option<&StreamId>,
        limit: usize,
    ) -> Reply<'_, Vec<StreamHead>> {
        self.read("streams", self.inner.streams(tenant, kind, before, limit))
    }

    fn mailbox(&self, tenant: &Tenant, mailbox: &str, now: Wall, limit: usize) -> Reply<'_, Vec<StoredMessage>> {
        self.read("mailbox", self.inner.mailbox(tenant, mailbox, now, limit))
    }

    fn links(&self, tenant: &Tenant, after: Position, limit: usize) -> Reply<'_, Vec<Link>> {
        self.read("links", self.inner.links(tenant, after, limit))
    }

    fn chain_head(&self, tenant: &Tenant) -> Reply<'_, Option<ChainHead>> {
        self.read("chain_head", self.inner.chain_head(tenant))
    }

    fn next(&self, queue: &str, after_tenant: Option<&Tenant>, now: Wall, limit: usize) -> Reply<'_, Next> {
        self.read("next", self.inner.next(queue, self.passage.turn(after_tenant), now, limit))
    }

    fn leased(&self, queue: &str, limit: usize) -> Reply<'_, Vec<LeasedMessage>> {
        self.read("leased", self.inner.leased(queue, limit))
    }

    fn due_delayed(&self, now: Wall) -> Reply<'_, Delayed> {
        self.read("due_delayed", self.inner.due_delayed(now))
    }

    fn depth(&self, queue: &str) -> Reply<'_, Depth> {
        self.read("depth", self.inner.depth(queue))
    }

    fn dead_letters(&self, tenant: &Tenant, before: Option<MessageId>, limit: usize) -> Reply<'_, Vec<StoredMessage>> {
        self.read("dead_letters", self.inner.dead_letters(tenant, before, limit))
    }

    fn message(&self, tenant: &Tenant, message: MessageId) -> Reply<'_, Option<StoredMessage>> {
        self.read("message", self.inner.message(tenant, message))
    }

    fn about(&self, tenant: &Tenant, queue: &str, subject: &StreamId) -> Reply<'_, Vec<StoredMessage>> {
        self.read("about", self.inner.about(tenant, queue, subject))
    }

    fn is_marked(&self, tenant: &Tenant, marker: &Marker) -> Reply<'_, bool> {
        self.read("is_marked", self.inner.is_marked(tenant, marker))
    }

    fn timers_due(&self, tenant: Option<&Tenant>, now: Wall, limit: usize) -> Reply<'_, Vec<StoredTimer>> {
        self.read("timers_due", self.inner.timers_due(tenant, now, limit))
    }

    fn lease(&self, tenant: &Tenant, lease: &LeaseName) -> Reply<'_, Option<LeaseRow>> {
        self.read("lease", self.inner.lease(tenant, lease))
    }

    fn owner(&self, owner: OwnerId) -> Reply<'_, Option<OwnerRow>> {
        self.read("owner", self.inner.owner(owner))
    }

    fn snapshot(&self, tenant: &Tenant, stream: &StreamId) -> Reply<'_, Option<Snapshot>> {
        self.read("snapshot", self.inner.snapshot(tenant, stream))
    }

    fn stage_blob(&self, tenant: &Tenant, bytes: Vec<u8>, taint: Taint) -> Reply<'_, NewBlob> {
        self.change("stage_blob", self.inner.stage_blob(tenant, bytes, taint))
    }

    fn blob(&self, tenant: &Tenant, digest: Digest) -> Reply<'_, Option<Blob>> {
        self.read("blob", self.inner.blob(tenant, digest))
    }

    fn blob_size(&self, tenant: &Tenant, digest: Digest) -> Reply<'_, Option<u64>> {
        self.read("blob_size", self.inner.blob_size(tenant, digest))
    }

    fn sweep(&self, now: Wall) -> Reply<'_, Swept> {
        self.change("sweep", self.inner.sweep(now))
    }

    fn tenants(&self) -> Reply<'_, Vec<Tenant>> {
        self.read("tenants", self.inner.tenants())
    }

    fn notifier(&self) -> &Notifier {
        self.inner.notifier()
    }
}
