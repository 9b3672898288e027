//! Bringing a database to the schema of this build: numbered SQL files, each applied once, in one transaction together with
//! the number. A database from a newer build is refused before anything is said to it.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, params};
use windlass_domain::{Digest, Seq, Tenant};

use crate::chain::{Row, genesis, write_row};
use crate::error::Error;
use crate::providers::sqlite::codec::{taint, uint, version, wall};
use crate::providers::sqlite::failure::describe;
use crate::stream::{Position, StreamId};

/// "Wdls", in the file's header: `file` and people can tell what it is.
pub(super) const APPLICATION_ID: i32 = 0x5764_6c73;

/// One step: a file, and what SQL cannot do after it.
struct Migration {
    sql: &'static str,
    then: fn(&Connection) -> rusqlite::Result<()>,
}

/// Migration `n` is at `n - 1`.
const MIGRATIONS: [Migration; 4] = [
    Migration { sql: include_str!("migrations/0001_foundation.sql"), then: |_| Ok(()) },
    Migration { sql: include_str!("migrations/0002_queues.sql"), then: link_old_events },
    Migration { sql: include_str!("migrations/0003_subjects.sql"), then: |_| Ok(()) },
    Migration { sql: include_str!("migrations/0004_levels.sql"), then: |_| Ok(()) },
];

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
    for migration in MIGRATIONS.iter().skip(from as usize) {
        transaction.execute_batch(migration.sql)?;
        (migration.then)(&transaction)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", known())?;
    transaction.commit()
}

/// Events from before there was a chain become its beginning, each as a commit of its own.
fn link_old_events(connection: &Connection) -> rusqlite::Result<()> {
    let mut chains = BTreeMap::<String, Digest>::new();
    let mut old = connection.prepare(
        "SELECT position, e.tenant, stream, seq, kind, version, taint, at, data, name
         FROM events_before e JOIN streams ON key = stream ORDER BY position",
    )?;
    let mut insert = connection.prepare(
        "INSERT INTO events (position, tenant, stream, seq, kind, version, taint, at, data, chain)
         SELECT position, tenant, stream, seq, kind, version, taint, at, data, ?2 FROM events_before WHERE position = ?1",
    )?;
    let mut rows = old.query([])?;
    while let Some(row) = rows.next()? {
        let tenant: String = row.get(1)?;
        let stream = StreamId::from_stored(row.get_ref(9)?.as_str()?);
        let (kind, data): (String, String) = (row.get(4)?, row.get(8)?);
        let mut bytes = Vec::new();
        write_row(
            &mut bytes,
            &Row {
                position: Position(uint(0, row.get(0)?)?),
                stream: &stream,
                seq: Seq(uint(3, row.get(3)?)?),
                kind: &kind,
                version: version(5, row.get(5)?)?,
                taint: taint(row.get(6)?),
                at: wall(7, row.get(7)?)?,
                data: &data,
            },
        );
        let chain = chains.entry(tenant).or_insert_with_key(|tenant| genesis(&Tenant::new(tenant.clone())));
        *chain = chain.chain(&bytes);
        insert.execute(params![row.get::<_, i64>(0)?, chain.as_bytes()])?;
    }
    connection.execute_batch("DROP TABLE events_before")
}
