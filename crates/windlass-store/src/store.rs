//! The port to durable truth. `commit` is the only verb that changes anything; the rest reads, each read seeing every commit
//! that was acknowledged before it began. Domain verbs (taking a lease, beating a heart) are written over these, once, for
//! every provider. A read that names a tenant sees that tenant's rows only; those that name none are for processes, which serve all.

use windlass_domain::{BoxFuture, Digest, MessageId, OwnerId, Seq, Taint, Tenant, Wall};

use crate::blob::{Blob, NewBlob, Swept};
use crate::chain::{ChainHead, Link};
use crate::commit::{Commit, Committed, Marker, Snapshot};
use crate::error::Error;
use crate::lease::{LeaseName, LeaseRow};
use crate::notifier::Notifier;
use crate::owner::OwnerRow;
use crate::record::{Delayed, Depth, LeasedMessage, Next, StoredEvent, StoredMessage, StoredTimer, StreamHead};
use crate::stream::{Position, StreamId};

pub type Reply<'a, T> = BoxFuture<'a, Result<T, Error>>;

pub trait Store: Send + Sync {
    /// Returns once the commit is on disk. A caller that drops the future before then does not know whether it happened.
    fn commit(&self, commit: Commit) -> Reply<'_, Committed>;

    /// The records of a stream after `after`, oldest first.
    fn stream(&self, tenant: &Tenant, stream: &StreamId, after: Seq, limit: usize) -> Reply<'_, Vec<StoredEvent>>;

    /// All of a tenant's events after `after`, in commit order.
    fn events(&self, tenant: &Tenant, after: Position, limit: usize) -> Reply<'_, Vec<StoredEvent>>;

    /// The last record of a stream; `Seq(0)` where there is none.
    fn head(&self, tenant: &Tenant, stream: &StreamId) -> Reply<'_, Seq>;

    /// The streams of one kind, greatest id first, which is newest first; `before` is the last one of the page before.
    fn streams(
        &self,
        tenant: &Tenant,
        kind: &str,
        before: Option<&StreamId>,
        limit: usize,
    ) -> Reply<'_, Vec<StreamHead>>;

    /// The rows that the tenant's chain is made of after `after`, in commit order.
    fn links(&self, tenant: &Tenant, after: Position, limit: usize) -> Reply<'_, Vec<Link>>;

    /// Where the tenant's chain stands; `None`: it has no events.
    fn chain_head(&self, tenant: &Tenant) -> Reply<'_, Option<ChainHead>>;

    /// What waits in a queue with one reader and may be seen at `now`, in the order in which it should be done.
    fn mailbox(&self, tenant: &Tenant, queue: &str, now: Wall, limit: usize) -> Reply<'_, Vec<StoredMessage>>;

    /// The messages of a shared queue's lane that may be taken, whoever's they are, beginning with the tenant after `after_tenant`.
    /// `now` is only asked whether delayed messages are due: what is delayed becomes ready by `Commit::promote` alone.
    fn next(&self, queue: &str, after_tenant: Option<&Tenant>, now: Wall, limit: usize) -> Reply<'_, Next>;

    /// The messages of a queue's lane that somebody holds: of each holder the `limit` oldest.
    fn leased(&self, queue: &str, limit: usize) -> Reply<'_, Vec<LeasedMessage>>;

    fn due_delayed(&self, now: Wall) -> Reply<'_, Delayed>;

    /// Of a queue with all its lanes.
    fn depth(&self, queue: &str) -> Reply<'_, Depth>;

    /// A tenant's dead letters, greatest id first, which is newest first; `before` is the last one of the page before.
    fn dead_letters(&self, tenant: &Tenant, before: Option<MessageId>, limit: usize) -> Reply<'_, Vec<StoredMessage>>;

    /// `None`: it was acked or dropped, or never was.
    fn message(&self, tenant: &Tenant, message: MessageId) -> Reply<'_, Option<StoredMessage>>;

    /// The messages of a queue, in all its lanes, that are about one stream, whatever their standing, oldest first.
    fn about(&self, tenant: &Tenant, queue: &str, subject: &StreamId) -> Reply<'_, Vec<StoredMessage>>;

    fn is_marked(&self, tenant: &Tenant, marker: &Marker) -> Reply<'_, bool>;

    /// Timers that are due at `now`, the earliest first; without a tenant everybody's.
    fn timers_due(&self, tenant: Option<&Tenant>, now: Wall, limit: usize) -> Reply<'_, Vec<StoredTimer>>;

    /// `None`: it was never taken.
    fn lease(&self, tenant: &Tenant, lease: &LeaseName) -> Reply<'_, Option<LeaseRow>>;

    fn owner(&self, owner: OwnerId) -> Reply<'_, Option<OwnerRow>>;

    fn snapshot(&self, tenant: &Tenant, stream: &StreamId) -> Reply<'_, Option<Snapshot>>;

    /// Makes `bytes` safe to commit. Nothing can be read under their digest before that commit.
    fn stage_blob(&self, tenant: &Tenant, bytes: Vec<u8>, taint: Taint) -> Reply<'_, NewBlob>;

    /// `None`: this tenant has no such blob.
    fn blob(&self, tenant: &Tenant, digest: Digest) -> Reply<'_, Option<Blob>>;

    /// How many bytes a blob has, without any of them. `None`: this tenant has no such blob.
    fn blob_size(&self, tenant: &Tenant, digest: Digest) -> Reply<'_, Option<u64>>;

    /// Takes away bytes that no row names and nobody is about to name, as of `now`. A provider that keeps all bytes in rows has none.
    fn sweep(&self, now: Wall) -> Reply<'_, Swept>;

    /// Everybody who has a stream.
    fn tenants(&self) -> Reply<'_, Vec<Tenant>>;

    /// Wake-ups about commits, this process's and others'.
    fn notifier(&self) -> &Notifier;
}
