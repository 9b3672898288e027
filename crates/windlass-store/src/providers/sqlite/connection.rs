//! Opening a connection so that it keeps the promises. Memory-mapped reading is left off: an I/O error would then be a
//! signal instead of an error. Checkpoints are never automatic: they would run inside somebody's commit.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::Error;
use crate::providers::sqlite::failure::describe;
use crate::providers::sqlite::options::{Options, Synchronous};

/// Versions before this can lose a committed transaction when the log is reset while another connection writes.
const OLDEST_SAFE_SQLITE: i32 = 3_051_003;

/// Statements kept prepared: a little more than there are.
const STATEMENTS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Write,
    Read,
}

pub(super) fn assert_safe_sqlite() -> Result<(), Error> {
    match rusqlite::version_number() {
        found if found < OLDEST_SAFE_SQLITE => Err(Error::Io {
            path: "sqlite".into(),
            detail: format!("SQLite {} can lose commits; build with 3.51.3 or newer", rusqlite::version()),
        }),
        _ => Ok(()),
    }
}

/// The bare file, with nothing said to it yet. It must exist.
pub(super) fn open_raw(options: &Options, path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    open_with(options, path, flags)
}

pub(super) fn open_with(options: &Options, path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let opened = match &options.vfs {
        None => Connection::open_with_flags(path, flags),
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs.as_str()),
    };
    let connection = opened.map_err(|error| describe(path, &error))?;
    connection.busy_timeout(options.limits.busy_timeout).map_err(|error| describe(path, &error))?;
    // SQLite opens what it may not write for reading; we want to know now and not at the first commit.
    if connection.is_readonly("main").map_err(|error| describe(path, &error))? {
        let detail = "it may only be read".to_owned();
        return Err(Error::ReadOnly { path: path.to_path_buf(), detail });
    }
    Ok(connection)
}

/// A further connection to a database that `create` has looked at.
pub(super) fn open(options: &Options, purpose: Purpose) -> Result<Connection, Error> {
    let path = &options.database();
    let connection = open_raw(options, path)?;
    configure(&connection, options.synchronous, purpose).map_err(|error| describe(path, &error))?;
    Ok(connection)
}

pub(super) fn open_in_memory() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    configure(&connection, Synchronous::Full, Purpose::Write)?;
    Ok(connection)
}

pub(super) fn configure(connection: &Connection, synchronous: Synchronous, purpose: Purpose) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // One plan for a statement, whatever it is given. Otherwise one with `LIMIT ?` is compiled anew each time it is run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    let level = match synchronous {
        Synchronous::Full => "full",
        Synchronous::Normal => "normal",
    };
    connection.pragma_update(None, "synchronous", level)?;
    match purpose {
        Purpose::Write => {
            // A log that once had to grow is cut back when it starts again.
            connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
            connection.pragma_update(None, "cache_size", -2 * 1024)
        }
        Purpose::Read => {
            connection.pragma_update(None, "query_only", true)?;
            connection.pragma_update(None, "cache_size", -512)
        }
    }
}
