//! Reads of queues as SQL. The head of a shared queue is found by hopping from tenant to tenant in the index of what is
//! ready, so it costs the same whatever the number of messages, and whatever is delayed, leased or dead; holders are found
//! by hopping from owner to owner in the index of what is leased. `INDEXED BY` makes another plan an error.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};
use windlass_domain::{MessageId, OwnerId, Tenant, Wall};

use crate::commit::MOST_PROMOTED;
use crate::delivery::Delivery;
use crate::providers::sqlite::codec::{id, id_bytes, int, limit, taint, uint, version, wall};
use crate::providers::sqlite::reads;
use crate::queue::lanes_between;
use crate::record::{Delayed, Depth, LeasedMessage, MOST_COUNTED, Next, Standing, StoredMessage};
use crate::stream::StreamId;

macro_rules! columns {
    () => {
        "id, tenant, queue, subject, trace_id, kind, version, data, taint, priority, enqueued_at, deliveries, forgiven,
         not_before, leased_by, leased_at, dead_reason, dead_at"
    };
}

macro_rules! ready {
    () => {
        "not_before IS NULL AND leased_by IS NULL AND dead_reason IS NULL"
    };
}

const FIRST_TENANT: &str = concat!(
    "SELECT tenant FROM messages INDEXED BY messages_ready WHERE queue = ?1 AND ",
    ready!(),
    " ORDER BY tenant LIMIT 1"
);

const NEXT_TENANT: &str = concat!(
    "SELECT tenant FROM messages INDEXED BY messages_ready WHERE queue = ?1 AND tenant > ?2 AND ",
    ready!(),
    " ORDER BY tenant LIMIT 1"
);

const HEAD: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM messages INDEXED BY messages_ready WHERE queue = ?1 AND tenant = ?2 AND ",
    ready!(),
    " ORDER BY priority DESC, key LIMIT ?3"
);

const IS_DUE: &str = "SELECT 1 FROM messages INDEXED BY messages_delayed WHERE not_before <= ?1";

const HOLDER: &str =
    "SELECT leased_by FROM messages INDEXED BY messages_leased WHERE leased_by > ?1 ORDER BY leased_by LIMIT 1";

const ABOUT: &str = concat!(
    "SELECT ",
    columns!(),
    ", key FROM messages INDEXED BY messages_by_subject WHERE queue = ?1 AND tenant = ?2 AND subject = ?3"
);

const COUNT_READY: &str = concat!(
    "SELECT count(*) FROM (SELECT 1 FROM messages INDEXED BY messages_ready WHERE queue = ?1 AND ",
    ready!(),
    " LIMIT ?2)"
);

const COUNT_LEASED: &str = "SELECT count(*) FROM
    (SELECT 1 FROM messages INDEXED BY messages_leased WHERE leased_by = ?1 AND queue = ?2 LIMIT ?3)";

const NEXT_LANE: &str = "SELECT queue FROM messages INDEXED BY messages_by_subject WHERE queue > ?1 AND queue < ?2
                         ORDER BY queue LIMIT 1";

pub(super) fn mailbox(
    connection: &Connection,
    tenant: &Tenant,
    queue: &str,
    now: Wall,
    rows: usize,
) -> Result<Vec<StoredMessage>> {
    // Two lists, each in its index's order, merged.
    let sql = concat!(
        "SELECT ",
        columns!(),
        ", key FROM messages INDEXED BY messages_ready WHERE queue = ?2 AND tenant = ?1 AND ",
        ready!(),
        " UNION ALL SELECT ",
        columns!(),
        ", key FROM messages INDEXED BY messages_delayed WHERE not_before <= ?3 AND queue = ?2 AND tenant = ?1
          ORDER BY priority DESC, key LIMIT ?4"
    );
    let values = params![tenant.as_str(), queue, int(now.as_millis()), limit(rows)];
    connection.prepare_cached(sql)?.query_map(values, stored)?.collect()
}

pub(super) fn next(
    connection: &Connection,
    queue: &str,
    after_tenant: Option<&Tenant>,
    now: Wall,
    rows: usize,
) -> Result<Next> {
    let tenants = tenants_in_turn(connection, queue, after_tenant, rows)?;
    let of_each = rows.div_ceil(tenants.len().max(1));
    let mut lists = Vec::with_capacity(tenants.len());
    for tenant in tenants {
        lists.push(head_of(connection, queue, &tenant, of_each)?.into_iter());
    }
    let mut ready = Vec::with_capacity(rows.min(64));
    for _ in 0..of_each {
        ready.extend(lists.iter_mut().filter_map(Iterator::next));
    }
    ready.truncate(rows);
    let due = connection.prepare_cached(IS_DUE)?.exists(params![int(now.as_millis())])?;
    Ok(Next { ready, due })
}

/// Those that have something ready, beginning after `after`; each once, and at most `most`.
fn tenants_in_turn(connection: &Connection, queue: &str, after: Option<&Tenant>, most: usize) -> Result<Vec<String>> {
    let after = after.map(Tenant::as_str);
    let mut tenants = Vec::new();
    let mut from = after.map(str::to_owned);
    while tenants.len() < most
        && let Some(tenant) = tenant_after(connection, queue, from.as_deref())?
    {
        from = Some(tenant.clone());
        tenants.push(tenant);
    }
    // From the beginning to where it began: the one that was served last comes last.
    let Some(last) = after else { return Ok(tenants) };
    let mut from = None;
    while tenants.len() < most
        && let Some(tenant) = tenant_after(connection, queue, from.as_deref())?
        && tenant.as_str() <= last
    {
        from = Some(tenant.clone());
        tenants.push(tenant);
    }
    Ok(tenants)
}

fn tenant_after(connection: &Connection, queue: &str, after: Option<&str>) -> Result<Option<String>> {
    let tenant = |row: &Row<'_>| row.get(0);
    match after {
        None => connection.prepare_cached(FIRST_TENANT)?.query_row(params![queue], tenant).optional(),
        Some(after) => connection.prepare_cached(NEXT_TENANT)?.query_row(params![queue, after], tenant).optional(),
    }
}

fn head_of(connection: &Connection, queue: &str, tenant: &str, rows: usize) -> Result<Vec<StoredMessage>> {
    connection.prepare_cached(HEAD)?.query_map(params![queue, tenant, limit(rows)], stored)?.collect()
}

pub(super) fn leased(connection: &Connection, queue: &str, rows: usize) -> Result<Vec<LeasedMessage>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM messages INDEXED BY messages_leased WHERE leased_by = ?1 AND queue = ?2 ORDER BY key LIMIT ?3"
    );
    let mut found = Vec::new();
    for owner in holders(connection)? {
        let Some(holder) = reads::owner(connection, owner)? else { continue };
        let mut statement = connection.prepare_cached(sql)?;
        for message in statement.query_map(params![id_bytes(&owner), queue, limit(rows)], stored)? {
            let message = message?;
            let delivery = Delivery { message_id: message.message_id, owner, number: message.deliveries };
            found.push(LeasedMessage { message, delivery, holder: holder.clone() });
        }
    }
    Ok(found)
}

/// Owners that hold messages, of whatever queue.
fn holders(connection: &Connection) -> Result<Vec<OwnerId>> {
    let mut statement = connection.prepare_cached(HOLDER)?;
    let mut holders = Vec::new();
    // Shorter than every id, so it sorts before them.
    let mut after = Vec::new();
    while let Some(bytes) = statement.query_row(params![after], |row| row.get::<_, [u8; 16]>(0)).optional()? {
        holders.push(id(0, bytes)?);
        after = bytes.to_vec();
    }
    Ok(holders)
}

pub(super) fn due_delayed(connection: &Connection, now: Wall) -> Result<Delayed> {
    let sql = "SELECT count(*) FROM
                   (SELECT 1 FROM messages INDEXED BY messages_delayed WHERE not_before <= ?1 LIMIT ?2)";
    let values = params![int(now.as_millis()), limit(MOST_PROMOTED)];
    let due: i64 = connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
    let sql = "SELECT min(not_before) FROM messages INDEXED BY messages_delayed WHERE not_before > ?1";
    let next = |row: &Row<'_>| row.get::<_, Option<i64>>(0)?.map(|time| wall(0, time)).transpose();
    let next = connection.prepare_cached(sql)?.query_row(params![int(now.as_millis())], next)?;
    Ok(Delayed { due: usize::try_from(due).unwrap_or(MOST_PROMOTED), next })
}

pub(super) fn depth(connection: &Connection, queue: &str) -> Result<Depth> {
    let count = |row: &Row<'_>| uint(0, row.get(0)?);
    let mut depth = Depth { ready: 0, leased: 0 };
    let holders = holders(connection)?;
    for lane in lanes(connection, queue)? {
        let left = int(MOST_COUNTED - depth.ready);
        depth.ready += connection.prepare_cached(COUNT_READY)?.query_row(params![lane, left], count)?;
        for owner in &holders {
            let values = params![id_bytes(owner), lane, int(MOST_COUNTED - depth.leased)];
            depth.leased += connection.prepare_cached(COUNT_LEASED)?.query_row(values, count)?;
        }
    }
    Ok(depth)
}

/// A queue's lanes that hold anything, and in any case the common one.
fn lanes(connection: &Connection, queue: &str) -> Result<Vec<String>> {
    let (mut after, end) = lanes_between(queue);
    let mut lanes = vec![queue.to_owned()];
    let mut statement = connection.prepare_cached(NEXT_LANE)?;
    while let Some(lane) = statement.query_row(params![after, end], |row| row.get::<_, String>(0)).optional()? {
        lanes.push(lane.clone());
        after = lane;
    }
    Ok(lanes)
}

pub(super) fn dead_letters(
    connection: &Connection,
    tenant: &Tenant,
    before: Option<MessageId>,
    rows: usize,
) -> Result<Vec<StoredMessage>> {
    let all = concat!(
        "SELECT ",
        columns!(),
        " FROM messages INDEXED BY messages_dead WHERE tenant = ?1 AND dead_reason IS NOT NULL
          ORDER BY id DESC LIMIT ?2"
    );
    let older = concat!(
        "SELECT ",
        columns!(),
        " FROM messages INDEXED BY messages_dead WHERE tenant = ?1 AND dead_reason IS NOT NULL AND id < ?3
          ORDER BY id DESC LIMIT ?2"
    );
    let (tenant, rows) = (tenant.as_str(), limit(rows));
    match before.map(|message| id_bytes(&message)) {
        None => connection.prepare_cached(all)?.query_map(params![tenant, rows], stored)?.collect(),
        Some(before) => connection.prepare_cached(older)?.query_map(params![tenant, rows, before], stored)?.collect(),
    }
}

pub(super) fn message(connection: &Connection, tenant: &Tenant, message: MessageId) -> Result<Option<StoredMessage>> {
    let sql = concat!("SELECT ", columns!(), " FROM messages WHERE tenant = ?1 AND id = ?2");
    let values = params![tenant.as_str(), id_bytes(&message)];
    connection.prepare_cached(sql)?.query_row(values, stored).optional()
}

pub(super) fn about(
    connection: &Connection,
    tenant: &Tenant,
    queue: &str,
    subject: &StreamId,
) -> Result<Vec<StoredMessage>> {
    let mut statement = connection.prepare_cached(ABOUT)?;
    let mut found = Vec::new();
    for lane in lanes(connection, queue)? {
        let values = params![lane, tenant.as_str(), subject.as_str()];
        let rows = statement.query_map(values, |row| Ok((row.get::<_, i64>("key")?, stored(row)?)))?;
        found.extend(rows.collect::<Result<Vec<_>>>()?);
    }
    found.sort_by_key(|(key, _)| *key);
    Ok(found.into_iter().map(|(_, message)| message).collect())
}

fn stored(row: &Row<'_>) -> Result<StoredMessage> {
    Ok(StoredMessage {
        message_id: id(0, row.get(0)?)?,
        tenant: Tenant::new(row.get::<_, String>(1)?),
        queue: row.get(2)?,
        subject: row.get_ref(3)?.as_str_or_null()?.map(StreamId::from_stored),
        trace_id: id(4, row.get(4)?)?,
        kind: row.get(5)?,
        version: version(6, row.get(6)?)?,
        data: row.get(7)?,
        taint: taint(row.get(8)?),
        priority: row.get(9)?,
        enqueued_at: wall(10, row.get(10)?)?,
        deliveries: row.get(11)?,
        forgiven: row.get(12)?,
        standing: standing(row)?,
    })
}

fn standing(row: &Row<'_>) -> Result<Standing> {
    let time = |column| wall(column, row.get(column)?);
    let has = |column| Ok::<_, rusqlite::Error>(row.get_ref(column)? != ValueRef::Null);
    Ok(if has(13)? {
        Standing::Delayed { not_before: time(13)? }
    } else if has(14)? {
        Standing::Leased { owner: id(14, row.get(14)?)?, at: time(15)? }
    } else if has(16)? {
        Standing::Dead { reason: row.get(16)?, at: time(17)? }
    } else {
        Standing::Ready
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::providers::sqlite::connection::open_in_memory;
    use crate::providers::sqlite::migrate::migrate;

    /// A queue with `each` messages of every standing and tenant, and more of them in another queue.
    fn filled(each: u32) -> Connection {
        let mut connection = open_in_memory().expect("a database");
        migrate(&mut connection, 0).expect("the schema");
        let sql = format!(
            "INSERT INTO owners VALUES (zeroblob(16), 1, 'h', 'b', 1, 0, 0, 0, 1);
             WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {each})
             INSERT INTO messages (id, tenant, queue, trace_id, kind, version, taint, priority, enqueued_at, data,
                                   not_before, leased_by, leased_at, dead_reason, dead_at)
             SELECT randomblob(16), tenant.column1, queue.column1, zeroblob(16), 'k', 1, 0, n % 3, 0, '1',
                    iif(standing.column1 = 'delayed', 1000 + n, NULL),
                    iif(standing.column1 = 'leased', zeroblob(16), NULL), iif(standing.column1 = 'leased', 1, NULL),
                    iif(standing.column1 = 'dead', 'no', NULL), iif(standing.column1 = 'dead', 1, NULL)
             FROM number, (VALUES ('a'), ('b'), ('c')) AS tenant, (VALUES ('queue'), ('other')) AS queue,
                  (VALUES ('ready'), ('delayed'), ('leased'), ('dead')) AS standing;
             INSERT INTO messages (id, tenant, queue, subject, trace_id, kind, version, taint, priority, enqueued_at, data,
                                   not_before)
             VALUES (randomblob(16), 'b', 'queue', 'task/a', zeroblob(16), 'k', 1, 0, 0, 0, '1', 1000)"
        );
        connection.execute_batch(&sql).expect("rows as they should be");
        connection
    }

    /// What SQLite's machine does to answer: the same for the same plan and rows, whatever the machine it runs on.
    fn steps(connection: &Connection, sql: &str, values: &[&dyn rusqlite::ToSql]) -> i32 {
        let mut statement = connection.prepare(sql).expect("it compiles");
        let mut rows = statement.query(values).expect("it runs");
        assert!(rows.next().expect("it runs").is_some() || sql == IS_DUE, "{sql}");
        drop(rows);
        statement.get_status(StatementStatus::VmStep)
    }

    #[test]
    fn the_head_of_a_queue_costs_the_same_however_many_messages_there_are() {
        let (few, many) = (filled(3), filled(2_000));
        let cases: [(&str, &[&dyn rusqlite::ToSql]); 7] = [
            (FIRST_TENANT, &[&"queue"]),
            (NEXT_TENANT, &[&"queue", &"a"]),
            (HEAD, &[&"queue", &"b", &1]),
            (IS_DUE, &[&1]),
            (HOLDER, &[&Vec::<u8>::new()]),
            (ABOUT, &[&"queue", &"b", &"task/a"]),
            (NEXT_LANE, &[&"p", &"r"]),
        ];
        for (sql, values) in cases {
            let (of_few, of_many) = (steps(&few, sql, values), steps(&many, sql, values));
            assert_eq!(of_few, of_many, "{sql}");
        }
        // Counting ends where it is said to.
        let owner = [0_u8; 16];
        for (sql, values) in [
            (COUNT_READY, &[&"queue" as &dyn rusqlite::ToSql, &9] as &[&dyn rusqlite::ToSql]),
            (COUNT_LEASED, &[&owner, &"queue", &9]),
        ] {
            assert_eq!(steps(&few, sql, values), steps(&many, sql, values), "{sql}");
        }
        // The control: what does look at every row is seen to.
        let all = "SELECT count(*) FROM messages WHERE queue = ?1";
        assert!(steps(&many, all, &[&"queue"]) > 100 * steps(&few, all, &[&"queue"]));
    }
}
