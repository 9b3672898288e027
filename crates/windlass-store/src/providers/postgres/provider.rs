//! The `Store` port over PostgreSQL: which connection does what. What is written and read is in `apply` and `reads`.

use std::sync::Arc;

use tokio::sync::watch;
use uuid::Uuid;
use windlass_domain::{Digest, MessageId, OwnerId, Runtime, Seq, Taint, Tenant, Wall};

use crate::blob::{Blob, LARGE, NewBlob, Swept};
use crate::chain::{ChainHead, Link};
use crate::commit::{Commit, Committed, LARGEST_COMMIT, Marker, Snapshot};
use crate::error::Error;
use crate::lease::{LeaseName, LeaseRow};
use crate::notifier::Notifier;
use crate::owner::OwnerRow;
use crate::providers::postgres::blob_parts;
use crate::providers::postgres::codec::Read;
use crate::providers::postgres::in_order::Pending;
use crate::providers::postgres::ledger::Ledger;
use crate::providers::postgres::listener::Listener;
use crate::providers::postgres::migrate::prepared_session;
use crate::providers::postgres::options::Options;
use crate::providers::postgres::queue_reads;
use crate::providers::postgres::readers::Readers;
use crate::providers::postgres::reads;
use crate::providers::postgres::session::Session;
use crate::providers::postgres::writer::Writer;
use crate::record::{Delayed, Depth, LeasedMessage, Next, StoredEvent, StoredMessage, StoredTimer, StreamHead};
use crate::store::{Reply, Store};
use crate::stream::{Position, StreamId};

/// Dropping it ends its connections once the commits under way are done; nobody waits for that.
pub struct PostgresStore {
    writer: Writer,
    readers: Readers,
    notifier: Notifier,
    runtime: Arc<dyn Runtime>,
    place: String,
    /// Its other end is the listener, which ends when this is dropped.
    _open: watch::Sender<()>,
}

impl PostgresStore {
    /// Connects, and brings the database to this build's schema. A server that cannot be reached is said to be at once.
    pub async fn open(options: Options, runtime: Arc<dyn Runtime>) -> Result<Self, Error> {
        let place = options.address.place().to_owned();
        let opened = prepared_session(&options, &runtime).await;
        let session = opened.map_err(|failure| failure.describe(&place))?;
        let own = Uuid::from_u128(runtime.random());
        let (open, closed) = watch::channel(());
        let listener = Listener { options: options.clone(), runtime: Arc::clone(&runtime), own, closed };
        let listen = move |notifier: Notifier| listener.runtime.spawn(Box::pin(listener.clone().listen(notifier)));
        let notifier = Notifier::listening(Arc::clone(&runtime), Box::new(listen));
        let ledger = Ledger::new(options.clone(), Arc::clone(&runtime), session, own);
        let writer = Writer::start(ledger, notifier.clone(), options.limits, place.clone(), &runtime);
        let readers = Readers::new(options, Arc::clone(&runtime));
        Ok(Self { writer, readers, notifier, runtime, place, _open: open })
    }

    fn read<'a, T: Send + 'a>(
        &'a self,
        query: impl for<'s> Fn(&'s Session) -> Pending<'s, Read<T>> + Send + Sync + 'a,
    ) -> Reply<'a, T> {
        Box::pin(self.readers.read(query))
    }
}

/// A read: its arguments are cloned for each time it is asked.
macro_rules! read {
    ($self:ident, |$session:ident $(, $argument:ident)*| $query:expr) => {
        $self.read(move |$session| {
            $(let $argument = $argument.clone();)*
            Box::pin(async move { $query.await })
        })
    };
}

impl Store for PostgresStore {
    fn commit(&self, commit: Commit) -> Reply<'_, Committed> {
        let (bytes, most) = (commit.bytes(), LARGEST_COMMIT);
        if bytes > most {
            return Box::pin(async move { Err(Error::TooLarge { bytes, most }) });
        }
        Box::pin(self.writer.commit(commit, bytes))
    }

    fn stream(&self, tenant: &Tenant, stream: &StreamId, after: Seq, limit: usize) -> Reply<'_, Vec<StoredEvent>> {
        let (tenant, stream) = (tenant.clone(), stream.clone());
        read!(self, |session, tenant, stream| reads::stream(session, &tenant, &stream, after, limit))
    }

    fn events(&self, tenant: &Tenant, after: Position, limit: usize) -> Reply<'_, Vec<StoredEvent>> {
        let tenant = tenant.clone();
        read!(self, |session, tenant| reads::events(session, &tenant, after, limit))
    }

    fn head(&self, tenant: &Tenant, stream: &StreamId) -> Reply<'_, Seq> {
        let (tenant, stream) = (tenant.clone(), stream.clone());
        read!(self, |session, tenant, stream| reads::head(session, &tenant, &stream))
    }

    fn streams(
        &self,
        tenant: &Tenant,
        kind: &str,
        before: Option<&StreamId>,
        limit: usize,
    ) -> Reply<'_, Vec<StreamHead>> {
        let (tenant, kind, before) = (tenant.clone(), kind.to_owned(), before.cloned());
        read!(self, |session, tenant, kind, before| reads::streams(session, &tenant, &kind, before.as_ref(), limit))
    }

    fn links(&self, tenant: &Tenant, after: Position, limit: usize) -> Reply<'_, Vec<Link>> {
        let tenant = tenant.clone();
        read!(self, |session, tenant| reads::links(session, &tenant, after, limit))
    }

    fn chain_head(&self, tenant: &Tenant) -> Reply<'_, Option<ChainHead>> {
        let tenant = tenant.clone();
        read!(self, |session, tenant| reads::chain_head(session, &tenant))
    }

    fn mailbox(&self, tenant: &Tenant, queue: &str, now: Wall, limit: usize) -> Reply<'_, Vec<StoredMessage>> {
        let (tenant, queue) = (tenant.clone(), queue.to_owned());
        read!(self, |session, tenant, queue| queue_reads::mailbox(session, &tenant, &queue, now, limit))
    }

    fn next(&self, queue: &str, after_tenant: Option<&Tenant>, now: Wall, limit: usize) -> Reply<'_, Next> {
        let (queue, after) = (queue.to_owned(), after_tenant.cloned());
        read!(self, |session, queue, after| queue_reads::next(session, &queue, after.as_ref(), now, limit))
    }

    fn leased(&self, queue: &str, limit: usize) -> Reply<'_, Vec<LeasedMessage>> {
        let queue = queue.to_owned();
        read!(self, |session, queue| queue_reads::leased(session, &queue, limit))
    }

    fn due_delayed(&self, now: Wall) -> Reply<'_, Delayed> {
        read!(self, |session| queue_reads::due_delayed(session, now))
    }

    fn depth(&self, queue: &str) -> Reply<'_, Depth> {
        let queue = queue.to_owned();
        read!(self, |session, queue| queue_reads::depth(session, &queue))
    }

    fn dead_letters(&self, tenant: &Tenant, before: Option<MessageId>, limit: usize) -> Reply<'_, Vec<StoredMessage>> {
        let tenant = tenant.clone();
        read!(self, |session, tenant| queue_reads::dead_letters(session, &tenant, before, limit))
    }

    fn message(&self, tenant: &Tenant, message: MessageId) -> Reply<'_, Option<StoredMessage>> {
        let tenant = tenant.clone();
        read!(self, |session, tenant| queue_reads::message(session, &tenant, message))
    }

    fn about(&self, tenant: &Tenant, queue: &str, subject: &StreamId) -> Reply<'_, Vec<StoredMessage>> {
        let (tenant, queue, subject) = (tenant.clone(), queue.to_owned(), subject.clone());
        read!(self, |session, tenant, queue, subject| queue_reads::about(session, &tenant, &queue, &subject))
    }

    fn is_marked(&self, tenant: &Tenant, marker: &Marker) -> Reply<'_, bool> {
        let (tenant, marker) = (tenant.clone(), marker.clone());
        read!(self, |session, tenant, marker| reads::is_marked(session, &tenant, &marker))
    }

    fn timers_due(&self, tenant: Option<&Tenant>, now: Wall, limit: usize) -> Reply<'_, Vec<StoredTimer>> {
        let tenant = tenant.cloned();
        read!(self, |session, tenant| reads::timers_due(session, tenant.as_ref(), now, limit))
    }

    fn lease(&self, tenant: &Tenant, lease: &LeaseName) -> Reply<'_, Option<LeaseRow>> {
        let (tenant, lease) = (tenant.clone(), lease.clone());
        read!(self, |session, tenant, lease| reads::lease(session, &tenant, &lease))
    }

    fn owner(&self, owner: OwnerId) -> Reply<'_, Option<OwnerRow>> {
        read!(self, |session| reads::owner(session, owner))
    }

    fn snapshot(&self, tenant: &Tenant, stream: &StreamId) -> Reply<'_, Option<Snapshot>> {
        let (tenant, stream) = (tenant.clone(), stream.clone());
        read!(self, |session, tenant, stream| reads::snapshot(session, &tenant, &stream))
    }

    fn stage_blob(&self, tenant: &Tenant, bytes: Vec<u8>, taint: Taint) -> Reply<'_, NewBlob> {
        let tenant = tenant.clone();
        Box::pin(async move {
            if bytes.len() < LARGE {
                return Ok(NewBlob::inline(bytes, taint));
            }
            let (digest, size) = (Digest::of(&bytes), bytes.len() as u64);
            let (named, now) = (tenant.clone(), self.runtime.wall());
            if read!(self, |session, named| blob_parts::is_there(session, &named, digest, now)).await? {
                return Ok(NewBlob::there(digest, size, taint));
            }
            let (body, bytes) = (self.runtime.random(), Arc::new(bytes));
            let write = read!(self, |session, tenant, bytes| {
                blob_parts::write(session, &tenant, Uuid::from_u128(body), &bytes)
            });
            write.await?;
            Ok(NewBlob::in_parts(digest, size, taint, body))
        })
    }

    fn blob(&self, tenant: &Tenant, digest: Digest) -> Reply<'_, Option<Blob>> {
        let (tenant, place) = (tenant.clone(), self.place.clone());
        read!(self, |session, tenant, place| blob_parts::read(session, &tenant, digest, &place))
    }

    fn blob_size(&self, tenant: &Tenant, digest: Digest) -> Reply<'_, Option<u64>> {
        let tenant = tenant.clone();
        read!(self, |session, tenant| blob_parts::size(session, &tenant, digest))
    }

    /// Bodies that no blob has are swept by whoever writes, now and again.
    fn sweep(&self, _: Wall) -> Reply<'_, Swept> {
        Box::pin(std::future::ready(Ok(Swept::default())))
    }

    fn tenants(&self) -> Reply<'_, Vec<Tenant>> {
        read!(self, |session| reads::tenants(session))
    }

    fn notifier(&self) -> &Notifier {
        &self.notifier
    }
}
