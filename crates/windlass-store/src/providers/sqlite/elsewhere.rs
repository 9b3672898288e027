//! Noticing other processes' commits. SQLite says for the price of a look into shared memory whether anything was committed
//! by anybody else; only then are the newest messages and events asked whose they are, and the queues whether anything is
//! ready.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Result, Row, params};
use windlass_domain::Tenant;

use crate::notifier::{Elsewhere, LookElsewhere, Topic, message_topics};
use crate::providers::sqlite::connection::{Purpose, open};
use crate::providers::sqlite::options::Options;
use crate::queue::{Queue, lanes_between};

/// More rows than this since the last look are not told apart.
const MANY: i64 = 10_000;

/// The newest message that ever was, also one that has been acked, and the newest event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Newest {
    message: i64,
    position: i64,
}

impl Newest {
    pub(super) fn read(connection: &Connection) -> Result<Self> {
        let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0),
                          coalesce((SELECT max(position) FROM events), 0)";
        let newest = |row: &Row<'_>| Ok(Self { message: row.get(0)?, position: row.get(1)? });
        connection.prepare_cached(sql)?.query_row([], newest)
    }
}

struct Look {
    connection: Connection,
    /// Changes whenever another connection has committed; `None` before the first look.
    data_version: Option<i64>,
    newest: Newest,
}

/// Looks for what is newer than `newest`. Its connection is opened at the first look: many processes never wait.
pub(super) fn look_elsewhere(options: Options, newest: Newest) -> LookElsewhere {
    let last: Mutex<Option<Look>> = Mutex::default();
    Arc::new(move || {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none() {
            let connection = open(&options, Purpose::Read).ok();
            *last = connection.map(|connection| Look { connection, data_version: None, newest });
        }
        // A look that fails is a hint that is lost.
        let found = last.as_mut().and_then(|look| look.again().ok());
        found.unwrap_or_else(|| Elsewhere::Topics(Vec::new()))
    })
}

impl Look {
    fn again(&mut self) -> Result<Elsewhere> {
        let data_version = Some(self.read_data_version()?);
        if data_version == self.data_version {
            return Ok(Elsewhere::Topics(Vec::new()));
        }
        let newest = Newest::read(&self.connection)?;
        let rows = newest.message - self.newest.message + newest.position - self.newest.position;
        let found = if rows > MANY {
            Elsewhere::Anything
        } else {
            let mut topics = self.mailboxes()?;
            topics.extend(self.tenants()?);
            topics.extend(self.ready_queues()?);
            Elsewhere::Topics(topics)
        };
        (self.data_version, self.newest) = (data_version, newest);
        Ok(found)
    }

    fn read_data_version(&self) -> Result<i64> {
        self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
    }

    fn mailboxes(&self) -> Result<Vec<Topic>> {
        let topics = |row: &Row<'_>| Ok(message_topics(&tenant(row)?, row.get_ref(1)?.as_str()?));
        let sql = "SELECT DISTINCT tenant, queue FROM messages WHERE key > ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found: Vec<[Topic; 2]> =
            statement.query_map(params![self.newest.message], topics)?.collect::<Result<_>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// A message that was given back or retried is no newer than before, so whoever waits for a queue is told when something
    /// is ready there, whatever it was that was committed.
    fn ready_queues(&self) -> Result<Vec<Topic>> {
        let sql = "SELECT 1 FROM messages INDEXED BY messages_ready
                   WHERE queue >= ?1 AND queue < ?2 AND not_before IS NULL AND leased_by IS NULL AND dead_reason IS NULL";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut topics = Vec::new();
        for queue in Queue::ALL {
            let (_, end) = lanes_between(queue.name());
            if statement.exists(params![queue.name(), end])? {
                topics.push(Topic::Queue { queue: queue.name().to_owned() });
            }
        }
        Ok(topics)
    }

    fn tenants(&self) -> Result<Vec<Topic>> {
        let topic = |row: &Row<'_>| Ok(Topic::Events { tenant: tenant(row)? });
        let sql = "SELECT DISTINCT tenant FROM events WHERE position > ?1";
        self.connection.prepare_cached(sql)?.query_map(params![self.newest.position], topic)?.collect()
    }
}

fn tenant(row: &Row<'_>) -> Result<Tenant> {
    row.get::<_, String>(0).map(Tenant::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::sqlite::connection::open_in_memory;
    use crate::providers::sqlite::migrate::migrate;

    #[test]
    fn a_queue_with_something_ready_in_any_lane_is_told_of_and_no_other() {
        let mut connection = open_in_memory().expect("a database");
        migrate(&mut connection, 0).expect("the schema");
        connection
            .execute_batch(
                "INSERT INTO messages (id, tenant, queue, trace_id, kind, version, taint, priority, enqueued_at, data,
                                       not_before)
                 VALUES (randomblob(16), 'a', 'planner_queue@ship', zeroblob(16), 'k', 1, 0, 0, 0, '1', NULL),
                        (randomblob(16), 'a', 'proxy_queue', zeroblob(16), 'k', 1, 0, 0, 0, '1', 5),
                        (randomblob(16), 'a', 'runtime_queues', zeroblob(16), 'k', 1, 0, 0, 0, '1', NULL)",
            )
            .expect("rows as they should be");
        let look = Look { newest: Newest::read(&connection).expect("readable"), connection, data_version: None };
        let told = look.ready_queues().expect("readable");
        assert_eq!(told, [Topic::Queue { queue: "planner_queue".to_owned() }]);
    }
}
