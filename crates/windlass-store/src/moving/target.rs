//! The PostgreSQL database that is filled: an empty one, in one transaction, by `COPY`.

use std::pin::pin;
use std::sync::Arc;

use futures_util::SinkExt as _;
use futures_util::future::join;
use tokio::sync::mpsc;
use uuid::Uuid;
use windlass_domain::Runtime;

use crate::error::Error;
use crate::moving::Moved;
use crate::moving::source::{LargeBlob, Source};
use crate::moving::tables::{TABLES, Table, push_bytes, push_escaped};
use crate::providers::postgres::{Failure, LOCK, Options, PART, Session, prepared_session, written};

/// The source waits when so many chunks are not taken yet.
const CHUNKS: usize = 8;

/// However long it takes, and without holding up who comes to look: nobody writes to an empty database.
const BEGIN: &str = "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

const GO_ON: &str = "
    SELECT setval(pg_get_serial_sequence('streams', 'key'), coalesce(max(key), 0) + 1, false) FROM streams;
    SELECT setval(pg_get_serial_sequence('messages', 'key'), coalesce(max(key), 0) + 1, false) FROM messages";

pub(super) async fn fill(
    source: Source,
    options: &Options,
    runtime: &Arc<dyn Runtime>,
) -> Result<(Source, Moved), Error> {
    let told = |failure: Failure| failure.describe(options.place());
    let session = prepared_session(options, runtime).await.map_err(told)?;
    let copying = Copying { session, runtime: Arc::clone(runtime), place: options.place().to_owned() };
    copying.session.run(BEGIN).await.map_err(told)?;
    copying.session.run(LOCK).await.map_err(told)?;
    copying.require_empty().await?;
    let (source, moved) = copying.all(source).await?;
    copying.session.run(GO_ON).await.map_err(told)?;
    copying.session.run(&format!("UPDATE journal SET level = {}", source.level()?)).await.map_err(told)?;
    copying.session.run("COMMIT").await.map_err(|failure| match failure.is_lost() {
        true => Error::Unconfirmed { place: copying.place.clone(), detail: failure.detail() },
        false => told(failure),
    })?;
    Ok((source, moved))
}

struct Copying {
    session: Session,
    runtime: Arc<dyn Runtime>,
    place: String,
}

impl Copying {
    fn told(&self, failure: &Failure) -> Error {
        failure.describe(&self.place)
    }

    async fn require_empty(&self) -> Result<(), Error> {
        let tables: Vec<String> = TABLES.iter().map(|table| format!("EXISTS (SELECT FROM {})", table.name)).collect();
        let sql = format!("SELECT {}", tables.join(" OR "));
        let found = self.session.client().query_one(&sql, &[]).await.and_then(|row| row.try_get::<_, bool>(0));
        match found.map_err(|error| self.told(&error.into()))? {
            false => Ok(()),
            true => {
                let detail = "it is not empty, and what is there is not to be mixed with anything; make a new database"
                    .to_owned();
                Err(Error::Io { path: self.place.clone().into(), detail })
            }
        }
    }

    async fn all(&self, mut source: Source) -> Result<(Source, Moved), Error> {
        let mut moved = Moved::default();
        for table in &TABLES {
            let count;
            (source, count) = self.table(source, table).await?;
            match table.name {
                "events" => moved.events = count,
                "messages" => moved.messages = count,
                "blobs" => moved.blobs = count,
                _ => {}
            }
        }
        for blob in source.large_blobs()? {
            self.large(&blob, &source.bytes(&blob)?).await?;
            moved.blobs += 1;
        }
        Ok((source, moved))
    }

    /// Reads on a thread for what blocks, and writes meanwhile.
    async fn table(&self, source: Source, table: &'static Table) -> Result<(Source, u64), Error> {
        let (send, mut chunks) = mpsc::channel(CHUNKS);
        let reading = self.runtime.blocking(move || {
            let read = source.lines(table, &send);
            (source, read)
        });
        let writing = async {
            let sink = self.session.client().copy_in::<_, bytes::Bytes>(&table.copy()).await?;
            let mut sink = pin!(sink);
            while let Some(chunk) = chunks.recv().await {
                sink.send(bytes::Bytes::from(chunk)).await?;
            }
            sink.finish().await
        };
        // One that fails takes no more, and the other ends.
        let writing = async {
            let written: Result<u64, tokio_postgres::Error> = writing.await;
            written
        };
        let ((source, read), written) = join(reading, writing).await;
        let (read, written) = (read?, written.map_err(|error| self.told(&error.into()))?);
        match read == written {
            true => Ok((source, read)),
            false => {
                let detail = format!("{read} rows of {} were read and {written} written", table.name);
                Err(Error::Io { path: self.place.clone().into(), detail })
            }
        }
    }

    async fn large(&self, blob: &LargeBlob, bytes: &[u8]) -> Result<(), Error> {
        let mut name = [0; 16];
        name.copy_from_slice(&blob.digest.chain(blob.tenant.as_str().as_bytes()).as_bytes()[..16]);
        let body = Uuid::from_bytes(name);
        for (number, part) in bytes.chunks(PART).enumerate() {
            let mut line = format!("{body}\t{number}\t");
            push_escaped(&mut line, &written(blob.tenant.as_str()));
            line.push('\t');
            push_bytes(&mut line, part);
            self.lines("COPY blob_parts (body, number, tenant, data) FROM STDIN", line).await?;
        }
        let mut line = String::new();
        push_escaped(&mut line, &written(blob.tenant.as_str()));
        line.push('\t');
        push_bytes(&mut line, blob.digest.as_bytes());
        line.push_str(&format!("\t{}\t{}\t{body}", blob.size, blob.taint));
        self.lines("COPY blobs (tenant, digest, size, taint, body) FROM STDIN", line).await
    }

    async fn lines(&self, sql: &str, line: String) -> Result<(), Error> {
        let copied = async {
            let mut sink = pin!(self.session.client().copy_in::<_, bytes::Bytes>(sql).await?);
            sink.send(bytes::Bytes::from(line + "\n")).await?;
            sink.finish().await
        };
        let copied: Result<u64, tokio_postgres::Error> = copied.await;
        copied.map(drop).map_err(|error| self.told(&error.into()))
    }
}
