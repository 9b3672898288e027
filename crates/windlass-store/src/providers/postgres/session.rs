//! One connection, set up so that it keeps the promises, and the statements that it has prepared. Plans use indexes whatever
//! the tables hold at the moment: they are kept while tables grow, and a plan that was right for an empty table would read
//! all of a full one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};
use windlass_domain::Runtime;

use crate::error::Error;
use crate::providers::postgres::failure::Failure;
use crate::providers::postgres::options::{Limits, Options};
use crate::providers::postgres::step::Value;
use crate::providers::postgres::tls::Tls;

/// What is asked for here was there from this version on.
const OLDEST_SERVER: i32 = 130_000;

pub(crate) struct Session {
    client: Client,
    statements: Mutex<BTreeMap<&'static str, Statement>>,
}

impl Session {
    pub(super) async fn open(options: &Options, runtime: &Arc<dyn Runtime>) -> Result<Self, Failure> {
        let tls = Tls::of(&options.address)?;
        let (client, connection) = options.address.config.connect(tls).await?;
        runtime.spawn(Box::pin(async move {
            // Whoever waits for an answer is told that the connection is closed.
            let _closed = connection.await;
        }));
        client.batch_execute(&settings(&options.limits)).await?;
        let session = Self { client, statements: Mutex::default() };
        session.check(options.address.place()).await?;
        Ok(session)
    }

    /// That what it acknowledges is on its disk, and that it is a server for us at all.
    async fn check(&self, place: &str) -> Result<(), Failure> {
        let sql = "SELECT current_setting('fsync'), current_setting('server_encoding'), pg_is_in_recovery(),
                          current_setting('server_version_num')::integer";
        let row = self.client.query_one(sql, &[]).await?;
        let (fsync, encoding, is_copy): (String, String, bool) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let refuse = |detail: &str| Err(Failure::Refused(Error::Io { path: place.into(), detail: detail.to_owned() }));
        if fsync != "on" {
            return refuse("the server runs with fsync = off and would lose commits in a power cut; set fsync = on");
        }
        if encoding != "UTF8" {
            return refuse(
                "the database's encoding is not UTF8; make one with: createdb --encoding UTF8 --template template0",
            );
        }
        if row.try_get::<_, i32>(3)? < OLDEST_SERVER {
            return refuse("the server is older than PostgreSQL 13; use a newer one");
        }
        if is_copy {
            let detail = "this server is a standby; name the primary".to_owned();
            return Err(Failure::Refused(Error::ReadOnly { path: place.into(), detail }));
        }
        Ok(())
    }

    /// Prepared once for each connection.
    pub(super) async fn statement(&self, sql: &'static str) -> Result<Statement, Failure> {
        if let Some(statement) = self.lock().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.lock().insert(sql, statement.clone());
        Ok(statement)
    }

    pub(super) async fn query(&self, sql: &'static str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Failure> {
        let statement = self.statement(sql).await?;
        Ok(self.client.query(&statement, values).await?)
    }

    /// Sends a prepared statement when it is first polled.
    pub(super) async fn answer(&self, statement: Statement, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        Ok(self.client.query(&statement, &values).await?)
    }

    /// Statements without values, sent when it is first polled.
    pub(crate) async fn run(&self, sql: &str) -> Result<Vec<Row>, Failure> {
        self.client.batch_execute(sql).await?;
        Ok(Vec::new())
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, Statement>> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stronger word of the operator's for `synchronous_commit`, such as `remote_apply`, stands. Without compiled plans: plans
/// that are kept from reading whole tables look expensive, and would be compiled at length.
fn settings(limits: &Limits) -> String {
    format!(
        "SET search_path = windlass, pg_catalog;
         SET default_transaction_isolation = 'read committed';
         SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local');
         SET lock_timeout = {};
         SET statement_timeout = {};
         SET idle_in_transaction_session_timeout = {};
         SET enable_seqscan = off;
         SET enable_bitmapscan = off;
         SET jit = off",
        limits.lock_timeout.as_millis(),
        limits.statement_timeout.as_millis(),
        limits.idle_timeout.as_millis(),
    )
}
