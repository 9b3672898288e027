//! What may be written: nothing that an owner at work cannot read. Who is at work is asked in the very transaction that writes, so
//! that nobody comes in between; and whoever comes later than what is written must be able to read it. Of what is new as a whole there is
//! nothing that they could read, and it is refused.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::commit::Commit;
use crate::error::Error;
use crate::owner::AT_WORK;
use crate::providers::sqlite::apply::{Applied, refuse};
use crate::providers::sqlite::codec::int;

/// The commit as everybody at work reads it, with what the journal then holds.
pub(super) fn lower(connection: &Connection, commit: Commit) -> Applied<Commit> {
    let sql = "SELECT min(level) FROM owners WHERE retired = 0 AND beat_at >= ?1";
    let since = int(commit.at.as_millis()).saturating_sub(int(u64::try_from(AT_WORK.as_millis()).unwrap_or(u64::MAX)));
    let least: Option<u32> = connection.prepare_cached(sql)?.query_row(params![since], |row| row.get(0))?;
    let commit = match least {
        Some(least) => commit.for_level(least),
        None => commit,
    };
    let needed = commit.level();
    if let Some(least) = least.filter(|least| *least < needed) {
        return refuse(Error::TooNew { needed, least });
    }
    let sql = "UPDATE journal SET level = ?1 WHERE level < ?1";
    connection.prepare_cached(sql)?.execute(params![needed])?;
    Ok(commit)
}

pub(super) fn require_level(connection: &Connection, known: u32) -> Applied<()> {
    let sql = "SELECT level FROM journal WHERE level > ?1";
    match connection.prepare_cached(sql)?.query_row(params![known], |row| row.get(0)).optional()? {
        Some(written) => refuse(Error::TooOld { written, known }),
        None => Ok(()),
    }
}
