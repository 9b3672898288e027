//! A data directory's database as a whole, for whoever moves it elsewhere or keeps a copy of it. It blocks, and is for a
//! process that does nothing else.

use std::path::Path;

use rusqlite::Connection;
use windlass_domain::{Digest, Tenant};

use crate::error::Error;
use crate::owner::OwnerRow;
use crate::providers::sqlite::blob_files::BlobFiles;
use crate::providers::sqlite::create::{open_or_create, sync};
use crate::providers::sqlite::failure::describe;
use crate::providers::sqlite::halt::{Halt, Trust};
use crate::providers::sqlite::options::Options;
use crate::providers::sqlite::reads::owner_row;

pub(crate) struct Database {
    connection: Connection,
    options: Options,
}

impl Database {
    pub(crate) fn open(options: &Options) -> Result<Self, Error> {
        Ok(Self { connection: open_or_create(options)?, options: options.clone() })
    }

    /// From now on nobody else writes.
    pub(crate) fn hold(&self) -> Result<(), Error> {
        self.read(|connection| connection.execute_batch("BEGIN IMMEDIATE"))
    }

    pub(crate) fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        query(&self.connection).map_err(|error| describe(&self.options.database(), &error))
    }

    pub(crate) fn owners(&self) -> Result<Vec<OwnerRow>, Error> {
        self.read(|connection| {
            let sql = "SELECT id, epoch, host, boot_id, pid, beat, beat_at, retired, level FROM owners";
            connection.prepare(sql)?.query_map([], owner_row)?.collect()
        })
    }

    /// Of one whose bytes are a file.
    pub(crate) fn blob(&self, tenant: &Tenant, digest: Digest) -> Result<Vec<u8>, Error> {
        BlobFiles::new(self.options.blobs(), Trust::new(Halt::abort())).read(tenant, digest)
    }

    /// All that is in the log is then in the file.
    pub(crate) fn close(self) -> Result<(), Error> {
        let path = self.options.database();
        let close = || {
            self.connection.execute_batch("ROLLBACK")?;
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            self.connection.close().map_err(|(_, error)| error)
        };
        close().map_err(|error| describe(&path, &error))
    }

    /// A copy as of one moment, which must not be there yet, on the disk when this returns. Others may go on writing.
    fn copy_to(&self, file: &Path) -> Result<(), Error> {
        let Some(name) = file.to_str() else {
            let detail = "its name is no text".to_owned();
            return Err(Error::Io { path: file.to_path_buf(), detail });
        };
        self.read(|connection| connection.execute("VACUUM INTO ?1", [name]).map(drop))?;
        sync(file).map_err(|error| Error::from_io(file, &error))
    }
}

/// Writes the database of a data directory, as of one moment, to a file that is not there yet.
pub fn copy_database(options: &Options, file: &Path) -> Result<(), Error> {
    Database::open(options)?.copy_to(file)
}
