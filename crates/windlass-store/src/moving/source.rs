//! The SQLite database that is moved: opened when nobody works there, held so that nobody writes, read table by table.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tokio::sync::mpsc;
use windlass_domain::{Digest, Tenant};

use crate::error::Error;
use crate::moving::tables::{Table, damaged, write};
use crate::owner::{LockState, OwnerLocks};
use crate::sqlite::{Database, Options};

/// About as much as is handed over at a time.
const CHUNK: usize = 1 << 18;

pub(super) struct Source {
    database: Database,
    path: PathBuf,
    moved: PathBuf,
}

/// A blob whose bytes are a file.
pub(super) struct LargeBlob {
    pub tenant: Tenant,
    pub digest: Digest,
    pub size: i64,
    pub taint: i64,
}

impl Source {
    pub(super) fn open(data_dir: &Path, locks: &OwnerLocks) -> Result<Self, Error> {
        let options = Options::new(data_dir);
        let path = options.file();
        if !path.exists() {
            let detail = "there is no such database; name the data directory by WINDLASS_DATA_DIR".to_owned();
            return Err(Error::Io { path, detail });
        }
        let database = Database::open(&options)?;
        database.hold()?;
        for owner in database.owners()? {
            if !owner.retired && locks.state(&owner)? == LockState::Held {
                let detail = format!("process {} still works on it; stop it, and try again", owner.pid);
                return Err(Error::Io { path, detail });
            }
        }
        Ok(Self { database, path, moved: options.moved() })
    }

    /// Sends a table's rows as lines; how many there were.
    pub(super) fn lines(&self, table: &Table, send: &mpsc::Sender<String>) -> Result<u64, Error> {
        let read = |connection: &Connection| {
            let mut statement = connection.prepare(&table.select())?;
            let (mut rows, mut chunk, mut count) = (statement.query([])?, String::new(), 0);
            while let Some(row) = rows.next()? {
                count += 1;
                for (column, (_, kind)) in table.columns.iter().enumerate() {
                    if column > 0 {
                        chunk.push('\t');
                    }
                    if write(&mut chunk, *kind, row.get_ref(column)?).is_none() {
                        return Ok(Err(damaged(&self.path, table)));
                    }
                }
                chunk.push('\n');
                // Whoever takes them has met trouble of its own where it takes no more.
                if chunk.len() > CHUNK && send.blocking_send(std::mem::take(&mut chunk)).is_err() {
                    return Ok(Ok(count));
                }
            }
            // The same: the last few are missed by nobody.
            let _ = send.blocking_send(chunk);
            Ok(Ok(count))
        };
        self.database.read(read)?
    }

    /// What is written in its journal.
    pub(super) fn level(&self) -> Result<i64, Error> {
        self.database.read(|connection| connection.query_row("SELECT level FROM journal", [], |row| row.get(0)))
    }

    pub(super) fn large_blobs(&self) -> Result<Vec<LargeBlob>, Error> {
        self.database.read(|connection| {
            let mut statement =
                connection.prepare("SELECT tenant, digest, size, taint FROM blobs WHERE data IS NULL")?;
            let blob = |row: &rusqlite::Row<'_>| {
                let tenant = Tenant::new(row.get::<_, String>(0)?);
                let digest = crate::sqlite::digest(row.get(1)?);
                Ok(LargeBlob { tenant, digest, size: row.get(2)?, taint: row.get(3)? })
            };
            statement.query_map([], blob)?.collect()
        })
    }

    /// Found to be what its name says.
    pub(super) fn bytes(&self, blob: &LargeBlob) -> Result<Vec<u8>, Error> {
        self.database.blob(&blob.tenant, blob.digest)
    }

    /// It has been moved: nobody opens it again by mistake.
    pub(super) fn retire(self) -> Result<(), Error> {
        let Self { database, path, moved } = self;
        database.close()?;
        std::fs::rename(&path, moved).map_err(|error| Error::from_io(&path, &error))
    }
}
