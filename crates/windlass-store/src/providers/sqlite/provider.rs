//! The `Store` port over SQLite: which thread does what. What is written and read is in `apply` and `reads`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use windlass_domain::{Digest, MessageId, OwnerId, Runtime, Seq, Taint, Tenant, Wall};

use crate::blob::{Blob, LARGE, NewBlob, Swept};
use crate::chain::{ChainHead, Link};
use crate::commit::{Commit, Committed, LARGEST_COMMIT, Marker, Snapshot};
use crate::error::Error;
use crate::lease::{LeaseName, LeaseRow};
use crate::notifier::Notifier;
use crate::owner::OwnerRow;
use crate::providers::sqlite::blob_files::BlobFiles;
use crate::providers::sqlite::blocking::blocking;
use crate::providers::sqlite::chains::chain_head;
use crate::providers::sqlite::checkpoint::Checkpointer;
use crate::providers::sqlite::connection::{assert_safe_sqlite, open_in_memory};
use crate::providers::sqlite::create::open_or_create;
use crate::providers::sqlite::direct::Direct;
use crate::providers::sqlite::elsewhere::{Newest, look_elsewhere};
use crate::providers::sqlite::failure::describe;
use crate::providers::sqlite::halt::{Halt, Trust};
use crate::providers::sqlite::ledger::Ledger;
use crate::providers::sqlite::migrate::migrate;
use crate::providers::sqlite::options::{Options, Work};
use crate::providers::sqlite::queue_reads;
use crate::providers::sqlite::readers::Readers;
use crate::providers::sqlite::reads;
use crate::providers::sqlite::writer::Writer;
use crate::record::{Delayed, Depth, LeasedMessage, Next, StoredEvent, StoredMessage, StoredTimer, StreamHead};
use crate::store::{Reply, Store};
use crate::stream::{Position, StreamId};

/// Dropping it waits for the commits under way and closes the database.
pub struct SqliteStore {
    place: Place,
    notifier: Notifier,
    runtime: Arc<dyn Runtime>,
}

enum Place {
    /// A thread that writes, and connections of their own for reads.
    Threads { writer: Writer, readers: Readers, files: BlobFiles },
    /// Everything on the caller's own poll. In memory there are no files.
    Caller { direct: Direct, files: Option<BlobFiles> },
}

/// How a database without a file is called in messages.
const IN_MEMORY: &str = ":memory:";

impl SqliteStore {
    /// Opens the database of a data directory, or makes one. Blocks, for as long as another process is making or
    /// migrating it.
    pub fn open(options: Options, runtime: Arc<dyn Runtime>) -> Result<Self, Error> {
        assert_safe_sqlite()?;
        let limits = options.limits;
        let (path, trust) = (options.database(), Trust::new(options.halt.clone()));
        let ledger = Ledger::new(open_or_create(&options)?, path, trust.clone(), limits.busy_timeout);
        let newest = Newest::read(&ledger.connection).map_err(|error| ledger.trouble(&error))?;
        let notifier = Notifier::new(Arc::clone(&runtime), Some(look_elsewhere(options.clone(), newest)));
        let files = BlobFiles::new(options.blobs(), trust.clone());
        let checkpointer = Checkpointer::start(options.clone(), trust);
        let place = match options.work {
            Work::OnThreads => Place::Threads {
                writer: Writer::start(ledger, checkpointer, notifier.clone(), limits),
                readers: Readers::new(options, Arc::clone(&runtime)),
                files,
            },
            Work::OnCallersThread => Place::Caller {
                direct: Direct::new(ledger, Some(checkpointer), notifier.clone(), Arc::clone(&runtime)),
                files: Some(files),
            },
        };
        Ok(Self { place, notifier, runtime })
    }

    /// A database that ends with this value. The same SQL, no threads, no files.
    pub fn in_memory(runtime: Arc<dyn Runtime>) -> Result<Self, Error> {
        assert_safe_sqlite()?;
        let path = PathBuf::from(IN_MEMORY);
        let make = || {
            let mut connection = open_in_memory()?;
            migrate(&mut connection, 0)?;
            Ok(connection)
        };
        let connection = make().map_err(|error: rusqlite::Error| describe(&path, &error))?;
        let ledger = Ledger::new(connection, path, Trust::new(Halt::abort()), Duration::ZERO);
        let notifier = Notifier::new(Arc::clone(&runtime), None);
        let direct = Direct::new(ledger, None, notifier.clone(), Arc::clone(&runtime));
        Ok(Self { place: Place::Caller { direct, files: None }, notifier, runtime })
    }

    /// Reads the whole database and says whether it is sound. Takes as long as reading it takes.
    pub async fn verify(&self) -> Result<(), Error> {
        let report = self
            .read(|connection| {
                let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
                let mut lines: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
                let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
                let orphans = statement.query_map([], |row| {
                    let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
                    Ok(format!("a row of {table} refers to no row of {parent}"))
                })?;
                lines.extend(orphans.collect::<Result<Vec<_>, _>>()?);
                Ok((connection.path().unwrap_or(IN_MEMORY).to_owned(), lines))
            })
            .await?;
        match report {
            (_, lines) if lines == ["ok"] => Ok(()),
            (path, lines) => Err(Error::Corrupt { path: path.into(), detail: lines.join("; ") }),
        }
    }

    fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Reply<'_, T> {
        match &self.place {
            Place::Threads { readers, .. } => Box::pin(readers.clone().read(query)),
            Place::Caller { direct, .. } => Box::pin(direct.read(query)),
        }
    }

    fn files(&self) -> Option<&BlobFiles> {
        match &self.place {
            Place::Threads { files, .. } => Some(files),
            Place::Caller { files, .. } => files.as_ref(),
        }
    }
}

impl Store for SqliteStore {
    fn commit(&self, commit: Commit) -> Reply<'_, Committed> {
        let (bytes, most) = (commit.bytes(), LARGEST_COMMIT);
        if bytes > most {
            return Box::pin(async move { Err(Error::TooLarge { bytes, most }) });
        }
        match &self.place {
            Place::Threads { writer, .. } => Box::pin(writer.commit(commit, bytes)),
            Place::Caller { direct, .. } => Box::pin(direct.commit(commit)),
        }
    }

    fn stream(&self, tenant: &Tenant, stream: &StreamId, after: Seq, limit: usize) -> Reply<'_, Vec<StoredEvent>> {
        let (tenant, stream) = (tenant.clone(), stream.clone());
        self.read(move |connection| reads::stream(connection, &tenant, &stream, after, limit))
    }

    fn events(&self, tenant: &Tenant, after: Position, limit: usize) -> Reply<'_, Vec<StoredEvent>> {
        let tenant = tenant.clone();
        self.read(move |connection| reads::events(connection, &tenant, after, limit))
    }

    fn head(&self, tenant: &Tenant, stream: &StreamId) -> Reply<'_, Seq> {
        let (tenant, stream) = (tenant.clone(), stream.clone());
        self.read(move |connection| reads::head(connection, &tenant, &stream))
    }

    fn streams(
        &self,
        tenant: &Tenant,
        kind: &str,
        before: Option<&StreamId>,
        limit: usize,
    ) -> Reply<'_, Vec<StreamHead>> {
        let (tenant, kind, before) = (tenant.clone(), kind.to_owned(), before.cloned());
        self.read(move |connection| reads::streams(connection, &tenant, &kind, before.as_ref(), limit))
    }

    fn links(&self, tenant: &Tenant, after: Position, limit: usize) -> Reply<'_, Vec<Link>> {
        let tenant = tenant.clone();
        self.read(move |connection| reads::links(connection, &tenant, after, limit))
    }

    fn chain_head(&self, tenant: &Tenant) -> Reply<'_, Option<ChainHead>> {
        let tenant = tenant.clone();
        self.read(move |connection| chain_head(connection, &tenant))
    }

    fn mailbox(&self, tenant: &Tenant, queue: &str, now: Wall, limit: usize) -> Reply<'_, Vec<StoredMessage>> {
        let (tenant, queue) = (tenant.clone(), queue.to_owned());
        self.read(move |connection| queue_reads::mailbox(connection, &tenant, &queue, now, limit))
    }

    fn next(&self, queue: &str, after_tenant: Option<&Tenant>, now: Wall, limit: usize) -> Reply<'_, Next> {
        let (queue, after_tenant) = (queue.to_owned(), after_tenant.cloned());
        self.read(move |connection| queue_reads::next(connection, &queue, after_tenant.as_ref(), now, limit))
    }

    fn leased(&self, queue: &str, limit: usize) -> Reply<'_, Vec<LeasedMessage>> {
        let queue = queue.to_owned();
        self.read(move |connection| queue_reads::leased(connection, &queue, limit))
    }

    fn due_delayed(&self, now: Wall) -> Reply<'_, Delayed> {
        self.read(move |connection| queue_reads::due_delayed(connection, now))
    }

    fn depth(&self, queue: &str) -> Reply<'_, Depth> {
        let queue = queue.to_owned();
        self.read(move |connection| queue_reads::depth(connection, &queue))
    }

    fn dead_letters(&self, tenant: &Tenant, before: Option<MessageId>, limit: usize) -> Reply<'_, Vec<StoredMessage>> {
        let tenant = tenant.clone();
        self.read(move |connection| queue_reads::dead_letters(connection, &tenant, before, limit))
    }

    fn message(&self, tenant: &Tenant, message: MessageId) -> Reply<'_, Option<StoredMessage>> {
        let tenant = tenant.clone();
        self.read(move |connection| queue_reads::message(connection, &tenant, message))
    }

    fn about(&self, tenant: &Tenant, queue: &str, subject: &StreamId) -> Reply<'_, Vec<StoredMessage>> {
        let (tenant, queue, subject) = (tenant.clone(), queue.to_owned(), subject.clone());
        self.read(move |connection| queue_reads::about(connection, &tenant, &queue, &subject))
    }

    fn is_marked(&self, tenant: &Tenant, marker: &Marker) -> Reply<'_, bool> {
        let (tenant, marker) = (tenant.clone(), marker.clone());
        self.read(move |connection| reads::is_marked(connection, &tenant, &marker))
    }

    fn timers_due(&self, tenant: Option<&Tenant>, now: Wall, limit: usize) -> Reply<'_, Vec<StoredTimer>> {
        let tenant = tenant.cloned();
        self.read(move |connection| reads::timers_due(connection, tenant.as_ref(), now, limit))
    }

    fn lease(&self, tenant: &Tenant, lease: &LeaseName) -> Reply<'_, Option<LeaseRow>> {
        let (tenant, lease) = (tenant.clone(), lease.clone());
        self.read(move |connection| reads::lease(connection, &tenant, &lease))
    }

    fn owner(&self, owner: OwnerId) -> Reply<'_, Option<OwnerRow>> {
        self.read(move |connection| reads::owner(connection, owner))
    }

    fn snapshot(&self, tenant: &Tenant, stream: &StreamId) -> Reply<'_, Option<Snapshot>> {
        let (tenant, stream) = (tenant.clone(), stream.clone());
        self.read(move |connection| reads::snapshot(connection, &tenant, &stream))
    }

    fn stage_blob(&self, tenant: &Tenant, bytes: Vec<u8>, taint: Taint) -> Reply<'_, NewBlob> {
        let tenant = tenant.clone();
        Box::pin(async move {
            let Some(files) = self.files().filter(|_| bytes.len() >= LARGE).cloned() else {
                return Ok(NewBlob::inline(bytes, taint));
            };
            let unique = self.runtime.random();
            blocking(&*self.runtime, move || {
                let digest = Digest::of(&bytes);
                files.write(&tenant, digest, &bytes, unique)?;
                Ok(NewBlob::in_file(digest, bytes.len() as u64, taint))
            })
            .await
        })
    }

    fn blob(&self, tenant: &Tenant, digest: Digest) -> Reply<'_, Option<Blob>> {
        let tenant = tenant.clone();
        Box::pin(async move {
            let named = tenant.clone();
            let Some(row) = self.read(move |connection| reads::blob(connection, &named, digest)).await? else {
                return Ok(None);
            };
            let bytes = match row.data {
                Some(bytes) => bytes,
                None => {
                    let files = self.files().cloned().expect("in memory every blob is in its row");
                    blocking(&*self.runtime, move || files.read(&tenant, digest)).await?
                }
            };
            Ok(Some(Blob { bytes, taint: row.taint }))
        })
    }

    fn blob_size(&self, tenant: &Tenant, digest: Digest) -> Reply<'_, Option<u64>> {
        let tenant = tenant.clone();
        self.read(move |connection| reads::blob_size(connection, &tenant, digest))
    }

    fn sweep(&self, now: Wall) -> Reply<'_, Swept> {
        Box::pin(async move {
            let Some(files) = self.files().cloned() else { return Ok(Swept::default()) };
            let tenants = self.read(reads::tenants_with_blobs).await?;
            let of_files = files.clone();
            let old = blocking(&*self.runtime, move || of_files.old(now)).await?;
            let mut swept = Swept::default();
            for found in old {
                // Whoever is unknown has no rows.
                let tenant = tenants.iter().find(|tenant| found.is_of(tenant)).cloned();
                let is_named = match (tenant, found.digest) {
                    (Some(tenant), Some(digest)) => {
                        self.read(move |connection| reads::has_blob(connection, &tenant, digest)).await?
                    }
                    _ => false,
                };
                if !is_named {
                    let files = files.clone();
                    let bytes = blocking(&*self.runtime, move || files.remove_if_old(&found, now)).await?;
                    swept.files += u64::from(bytes.is_some());
                    swept.bytes += bytes.unwrap_or(0);
                }
            }
            Ok(swept)
        })
    }

    fn tenants(&self) -> Reply<'_, Vec<Tenant>> {
        self.read(reads::tenants)
    }

    fn notifier(&self) -> &Notifier {
        &self.notifier
    }
}
