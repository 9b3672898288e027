//! Bringing a database to the schema of this build: numbered SQL files, each applied once, in one transaction together with
//! the number. A database from a newer build is refused before anything is said to it.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::error::Error;
use crate::providers::sqlite::failure::describe;

/// "Wdls", in the file's header: `file` and people can tell what it is.
pub(super) const APPLICATION_ID: i32 = 0x5764_6c73;

/// The file of migration `n` is at `n - 1`.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001_foundation.sql")];

pub(super) fn known() -> u32 {
    u32::try_from(MIGRATIONS.len()).expect("few migrations")
}

/// Whether the database can be used as it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Schema {
    Current,
    Older(u32),
}

/// Looks at a database without changing it: even the log, should one be there, is left alone if it is not for us.
pub(super) fn inspect(connection: &Connection, path: &Path) -> Result<Schema, Error> {
    let read = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let look = || {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        let found = (read("application_id")?, read("user_version")?);
        Ok(found)
    };
    let (application, version) = look().map_err(|error: rusqlite::Error| describe(path, &error))?;
    if application != i64::from(APPLICATION_ID) {
        let detail = "another program's database".to_owned();
        return Err(Error::Corrupt { path: path.to_path_buf(), detail });
    }
    let found = u32::try_from(version).unwrap_or(u32::MAX);
    let schema = match found {
        newer if newer > known() => return Err(Error::NewerSchema { found: newer, known: known() }),
        current if current == known() => Schema::Current,
        older => Schema::Older(older),
    };
    let restored = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
    restored.map_err(|error| describe(path, &error))?;
    Ok(schema)
}

/// Applies what comes after `from`.
pub(super) fn migrate(connection: &mut Connection, from: u32) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for sql in MIGRATIONS.iter().skip(from as usize) {
        transaction.execute_batch(sql)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", known())?;
    transaction.commit()
}
