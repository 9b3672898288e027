//! Noticing other processes' commits. SQLite says for the price of a look into shared memory whether anything was committed
//! by anybody else; only then are the newest messages and events asked whose they are.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Result, Row, params};
use windlass_domain::Tenant;

use crate::notifier::{Elsewhere, LookElsewhere, Topic};
use crate::providers::sqlite::connection::{Purpose, open};
use crate::providers::sqlite::options::Options;

/// More rows than this since the last look are not told apart.
const MANY: i64 = 10_000;

struct Look {
    connection: Connection,
    /// Changes whenever another connection has committed.
    data_version: i64,
    message: i64,
    position: i64,
}

pub(super) fn look_elsewhere(options: Options) -> LookElsewhere {
    let last: Mutex<Option<Look>> = Mutex::default();
    Arc::new(move || {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match last.as_mut() {
            Some(look) => look.again(),
            None => Look::first(&options).map(|look| {
                *last = Some(look);
                Elsewhere::Anything
            }),
        };
        // A look that fails is a hint that is lost.
        found.unwrap_or_else(|_| Elsewhere::Topics(Vec::new()))
    })
}

impl Look {
    fn first(options: &Options) -> Result<Self> {
        let connection = open(options, Purpose::Read).map_err(|_| rusqlite::Error::InvalidQuery)?;
        let mut look = Self { connection, data_version: 0, message: 0, position: 0 };
        look.data_version = look.read_data_version()?;
        (look.message, look.position) = look.newest()?;
        Ok(look)
    }

    fn again(&mut self) -> Result<Elsewhere> {
        let data_version = self.read_data_version()?;
        if data_version == self.data_version {
            return Ok(Elsewhere::Topics(Vec::new()));
        }
        let (message, position) = self.newest()?;
        let found = if message - self.message + position - self.position > MANY {
            Elsewhere::Anything
        } else {
            let mut topics = self.mailboxes()?;
            topics.extend(self.tenants()?);
            Elsewhere::Topics(topics)
        };
        (self.data_version, self.message, self.position) = (data_version, message, position);
        Ok(found)
    }

    fn read_data_version(&self) -> Result<i64> {
        self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
    }

    /// The newest message that ever was, also one that has been acked, and the newest event.
    fn newest(&self) -> Result<(i64, i64)> {
        let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0),
                          coalesce((SELECT max(position) FROM events), 0)";
        self.connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn mailboxes(&self) -> Result<Vec<Topic>> {
        let topic = |row: &Row<'_>| Ok(Topic::Mailbox { tenant: tenant(row)?, mailbox: row.get(1)? });
        let sql = "SELECT DISTINCT tenant, mailbox FROM messages WHERE key > ?1";
        self.connection.prepare_cached(sql)?.query_map(params![self.message], topic)?.collect()
    }

    fn tenants(&self) -> Result<Vec<Topic>> {
        let topic = |row: &Row<'_>| Ok(Topic::Events { tenant: tenant(row)? });
        let sql = "SELECT DISTINCT tenant FROM events WHERE position > ?1";
        self.connection.prepare_cached(sql)?.query_map(params![self.position], topic)?.collect()
    }
}

fn tenant(row: &Row<'_>) -> Result<Tenant> {
    row.get::<_, String>(0).map(Tenant::new)
}
