//! Bringing a database to the schema of this build: numbered SQL files, each applied once, in one transaction together with
//! the number, under a lock, since several processes may start at once. A database from a newer build is refused before
//! anything is said to it.

use std::sync::Arc;

use windlass_domain::Runtime;

use crate::error::Error;
use crate::providers::postgres::failure::Failure;
use crate::providers::postgres::options::Options;
use crate::providers::postgres::session::Session;

/// Migration `n` is at `n - 1`.
const MIGRATIONS: [&str; 2] =
    [include_str!("migrations/0001_foundation.sql"), include_str!("migrations/0002_levels.sql")];

/// "Wdls" and a number; locks of this kind are a whole database's.
const LOCK: &str = "SELECT pg_advisory_xact_lock(x'57646c7300000001'::bigint)";

fn known() -> u32 {
    u32::try_from(MIGRATIONS.len()).expect("few migrations")
}

/// A connection to a database of this build's schema.
pub(crate) async fn prepared_session(options: &Options, runtime: &Arc<dyn Runtime>) -> Result<Session, Failure> {
    let session = Session::open(options, runtime).await?;
    migrate(&session).await?;
    Ok(session)
}

async fn migrate(session: &Session) -> Result<(), Failure> {
    if found(session).await? == known() {
        return Ok(());
    }
    session.run("BEGIN").await?;
    let migrated = migrate_alone(session).await;
    session.run(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    migrated
}

async fn migrate_alone(session: &Session) -> Result<(), Failure> {
    session.run(LOCK).await?;
    // Another process may have done it meanwhile.
    let from = found(session).await?;
    if from == 0 {
        session
            .run("CREATE SCHEMA IF NOT EXISTS windlass; CREATE TABLE schema_version (number integer NOT NULL)")
            .await?;
        session.run("INSERT INTO schema_version VALUES (0)").await?;
    }
    for migration in MIGRATIONS.iter().skip(from as usize) {
        session.run(migration).await?;
    }
    session.run(&format!("UPDATE schema_version SET number = {}", known())).await?;
    Ok(())
}

/// The schema that is there; 0: none.
async fn found(session: &Session) -> Result<u32, Failure> {
    let client = session.client();
    // Asked of the catalogue's own rows: what a session remembers of names may be older than the lock that it has just taken.
    let sql = "SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                              WHERE nspname = 'windlass' AND relname = 'schema_version')";
    let row = client.query_one(sql, &[]).await?;
    if !row.try_get::<_, bool>(0)? {
        return Ok(0);
    }
    let row = client.query_one("SELECT number FROM windlass.schema_version", &[]).await?;
    let found = u32::try_from(row.try_get::<_, i32>(0)?).unwrap_or(u32::MAX);
    if found > known() {
        return Err(Failure::Refused(Error::NewerSchema { found, known: known() }));
    }
    Ok(found)
}
