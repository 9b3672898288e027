//! Reads of queues as SQL. The head of a shared queue is found by hopping from tenant to tenant in the index of what is ready,
//! so it costs the same whatever the number of messages, and whatever is delayed, leased or dead; holders are found by hopping
//! from owner to owner in the index of what is leased, and lanes from name to name. Each is one statement, whose hops are a
//! recursion: over a network every question would otherwise cost a journey.

use tokio_postgres::Row;
use windlass_domain::{MessageId, Tenant, Wall};

use crate::commit::MOST_PROMOTED;
use crate::delivery::Delivery;
use crate::providers::postgres::apply::first;
use crate::providers::postgres::codec::{Columns as _, Read, Text, int, limit, millis, unwritten, uuid};
use crate::providers::postgres::in_order::{Pending, in_order};
use crate::providers::postgres::reads::owner_row;
use crate::providers::postgres::session::Session;
use crate::providers::postgres::step::values;
use crate::queue::lanes_between;
use crate::record::{Delayed, Depth, LeasedMessage, MOST_COUNTED, Next, Standing, StoredMessage};
use crate::stream::StreamId;

macro_rules! columns {
    () => {
        "message.id, message.tenant, queue, subject, trace_id, kind, version, data, taint, priority, enqueued_at, deliveries,
         forgiven, not_before, leased_by, leased_at, dead_reason, dead_at"
    };
}

macro_rules! ready {
    () => {
        "not_before IS NULL AND leased_by IS NULL AND dead_reason IS NULL"
    };
}

/// From one to the next among the tenants that have something ready.
macro_rules! circle {
    ($name:literal, $first:literal, $bound:literal) => {
        concat!(
            $name,
            " (tenant) AS ((SELECT tenant FROM messages WHERE queue = $1 AND ",
            $first,
            $bound,
            " AND ",
            ready!(),
            " ORDER BY tenant LIMIT 1) UNION ALL SELECT (SELECT other.tenant FROM messages AS other WHERE queue = $1 AND other.tenant > ",
            $name,
            ".tenant",
            $bound,
            " AND ",
            ready!(),
            " ORDER BY other.tenant LIMIT 1) FROM ",
            $name,
            " WHERE ",
            $name,
            ".tenant IS NOT NULL)"
        )
    };
}

/// `$2` is the tenant that was served last, `$3` how many are wanted. The one that was served last comes last.
const NEXT: &str = concat!(
    "WITH RECURSIVE ",
    circle!("later", "tenant > coalesce($2, '')", ""),
    ", ",
    circle!("earlier", "tenant > ''", " AND tenant <= $2"),
    ", turns AS (SELECT tenant, row_number() OVER () AS turn FROM
         (SELECT tenant FROM (SELECT tenant FROM later UNION ALL SELECT tenant FROM earlier) AS circle
          WHERE tenant IS NOT NULL LIMIT $3) AS served)
     SELECT ",
    columns!(),
    " FROM turns CROSS JOIN LATERAL (
         SELECT *, row_number() OVER (ORDER BY priority DESC, key) AS round FROM messages
         WHERE queue = $1 AND messages.tenant = turns.tenant AND ",
    ready!(),
    "    ORDER BY priority DESC, key LIMIT (SELECT ($3 + count(*) - 1) / greatest(count(*), 1) FROM turns)
     ) AS message ORDER BY round, turn LIMIT $3"
);

const IS_DUE: &str = "SELECT 1 FROM messages WHERE not_before <= $1 LIMIT 1";

const MAILBOX: &str = concat!(
    "SELECT * FROM (SELECT ",
    columns!(),
    ", key FROM messages AS message WHERE queue = $2 AND tenant = $1 AND ",
    ready!(),
    " UNION ALL SELECT ",
    columns!(),
    ", key FROM messages AS message WHERE not_before <= $3 AND queue = $2 AND tenant = $1) AS found
      ORDER BY priority DESC, key LIMIT $4"
);

macro_rules! holders {
    () => {
        "WITH RECURSIVE holders (id) AS (
             (SELECT leased_by FROM messages WHERE leased_by IS NOT NULL ORDER BY leased_by LIMIT 1)
             UNION ALL
             SELECT (SELECT leased_by FROM messages WHERE leased_by > holders.id ORDER BY leased_by LIMIT 1)
             FROM holders WHERE holders.id IS NOT NULL)"
    };
}

const LEASED: &str = concat!(
    holders!(),
    " SELECT ",
    columns!(),
    ", owners.id, owners.epoch, host, boot_id, pid, beat, beat_at, retired, level
      FROM holders JOIN owners ON owners.id = holders.id CROSS JOIN LATERAL (
          SELECT * FROM messages WHERE leased_by = holders.id AND queue = $1 ORDER BY key LIMIT $2
      ) AS message ORDER BY holders.id, message.key"
);

/// `$2` and `$3` are what a queue's lanes, but for the common one, lie between.
const COUNT_READY: &str = concat!(
    "SELECT count(*) FROM (
         (SELECT FROM messages WHERE queue = $1 AND ",
    ready!(),
    " LIMIT $4) UNION ALL (SELECT FROM messages WHERE queue > $2 AND queue < $3 AND ",
    ready!(),
    " LIMIT $4)) AS counted"
);

const COUNT_LEASED: &str = concat!(
    holders!(),
    " SELECT count(*) FROM (SELECT FROM holders CROSS JOIN LATERAL (
          (SELECT FROM messages WHERE leased_by = holders.id AND queue = $1 LIMIT $4)
          UNION ALL (SELECT FROM messages WHERE leased_by = holders.id AND queue > $2 AND queue < $3 LIMIT $4)
      ) AS held LIMIT $4) AS counted"
);

/// The common lane, then each of the others that holds anything.
const ABOUT: &str = concat!(
    "WITH RECURSIVE lanes (name) AS (
         SELECT $1::text COLLATE \"C\"
         UNION ALL
         SELECT (SELECT queue FROM messages WHERE queue > greatest(lanes.name, $4) AND queue < $5 ORDER BY queue LIMIT 1)
         FROM lanes WHERE lanes.name IS NOT NULL)
     SELECT ",
    columns!(),
    " FROM lanes CROSS JOIN LATERAL (
         SELECT * FROM messages WHERE queue = lanes.name AND tenant = $2 AND subject = $3
     ) AS message ORDER BY key"
);

pub(super) async fn mailbox(
    session: &Session,
    tenant: &Tenant,
    queue: &str,
    now: Wall,
    rows: usize,
) -> Read<Vec<StoredMessage>> {
    let found = session.query(MAILBOX, &[&Text(tenant.as_str()), &Text(queue), &millis(now), &limit(rows)]).await?;
    found.iter().map(stored).collect()
}

pub(super) async fn next(
    session: &Session,
    queue: &str,
    after_tenant: Option<&Tenant>,
    now: Wall,
    rows: usize,
) -> Read<Next> {
    let (next, is_due) = (session.statement(NEXT).await?, session.statement(IS_DUE).await?);
    let head = values![Text(queue), after_tenant.map(|tenant| Text(tenant.as_str())), limit(rows)];
    let due = values![millis(now)];
    let answers =
        in_order(vec![Box::pin(session.answer(next, &head)) as Pending<'_, _>, Box::pin(session.answer(is_due, &due))]);
    let [ready, due] = <[Read<Vec<Row>>; 2]>::try_from(answers.await).expect("two questions have two answers");
    Ok(Next { ready: ready?.iter().map(stored).collect::<Read<_>>()?, due: !due?.is_empty() })
}

pub(super) async fn leased(session: &Session, queue: &str, rows: usize) -> Read<Vec<LeasedMessage>> {
    let found = session.query(LEASED, &[&Text(queue), &limit(rows)]).await?;
    let held = |row: &Row| {
        let (message, holder) = (stored(row)?, owner_row(row, 18)?);
        let delivery = Delivery { message_id: message.message_id, owner: holder.id, number: message.deliveries };
        Ok(LeasedMessage { message, delivery, holder })
    };
    found.iter().map(held).collect()
}

pub(super) async fn due_delayed(session: &Session, now: Wall) -> Read<Delayed> {
    let sql = "SELECT (SELECT count(*) FROM (SELECT FROM messages WHERE not_before <= $1 LIMIT $2) AS due),
                      (SELECT min(not_before) FROM messages WHERE not_before > $1)";
    let rows = session.query(sql, &[&millis(now), &limit(MOST_PROMOTED)]).await?;
    let row = first(&rows)?;
    let next = if row.is_null(1) { None } else { Some(row.wall(1)?) };
    Ok(Delayed { due: usize::try_from(row.uint(0)?).unwrap_or(MOST_PROMOTED), next })
}

pub(super) async fn depth(session: &Session, queue: &str) -> Read<Depth> {
    let (after, end) = lanes_between(queue);
    let (ready, leased) = (session.statement(COUNT_READY).await?, session.statement(COUNT_LEASED).await?);
    let values = values![Text(queue), Text(&after), Text(&end), int(MOST_COUNTED)];
    let answers = in_order(vec![
        Box::pin(session.answer(ready, &values)) as Pending<'_, _>,
        Box::pin(session.answer(leased, &values)),
    ]);
    let mut counts = Vec::new();
    for answer in answers.await {
        counts.push(first(&answer?)?.uint(0)?.min(MOST_COUNTED));
    }
    Ok(Depth { ready: counts[0], leased: counts[1] })
}

pub(super) async fn dead_letters(
    session: &Session,
    tenant: &Tenant,
    before: Option<MessageId>,
    rows: usize,
) -> Read<Vec<StoredMessage>> {
    let all = concat!(
        "SELECT ",
        columns!(),
        " FROM messages AS message WHERE tenant = $1 AND dead_reason IS NOT NULL ORDER BY id DESC LIMIT $2"
    );
    let older = concat!(
        "SELECT ",
        columns!(),
        " FROM messages AS message WHERE tenant = $1 AND dead_reason IS NOT NULL AND id < $3 ORDER BY id DESC LIMIT $2"
    );
    let (tenant, rows) = (Text(tenant.as_str()), limit(rows));
    let found = match before {
        None => session.query(all, &[&tenant, &rows]).await?,
        Some(before) => session.query(older, &[&tenant, &rows, &uuid(&before)]).await?,
    };
    found.iter().map(stored).collect()
}

pub(super) async fn message(session: &Session, tenant: &Tenant, message: MessageId) -> Read<Option<StoredMessage>> {
    let sql = concat!("SELECT ", columns!(), " FROM messages AS message WHERE tenant = $1 AND id = $2");
    let rows = session.query(sql, &[&Text(tenant.as_str()), &uuid(&message)]).await?;
    rows.first().map(stored).transpose()
}

pub(super) async fn about(
    session: &Session,
    tenant: &Tenant,
    queue: &str,
    subject: &StreamId,
) -> Read<Vec<StoredMessage>> {
    let (after, end) = lanes_between(queue);
    let found = session
        .query(ABOUT, &[&Text(queue), &Text(tenant.as_str()), &Text(subject.as_str()), &Text(&after), &Text(&end)])
        .await?;
    found.iter().map(stored).collect()
}

fn stored(row: &Row) -> Read<StoredMessage> {
    Ok(StoredMessage {
        message_id: row.id(0)?,
        tenant: Tenant::new(row.text(1)?),
        queue: row.text(2)?,
        subject: row.value::<Option<&str>>(3)?.map(|subject| StreamId::from_stored(&unwritten(subject))),
        trace_id: row.id(4)?,
        kind: row.value(5)?,
        version: row.version(6)?,
        data: row.value(7)?,
        taint: row.taint(8)?,
        priority: row.value(9)?,
        enqueued_at: row.wall(10)?,
        deliveries: row.small(11)?,
        forgiven: row.small(12)?,
        standing: standing(row)?,
    })
}

fn standing(row: &Row) -> Read<Standing> {
    Ok(if !row.is_null(13) {
        Standing::Delayed { not_before: row.wall(13)? }
    } else if !row.is_null(14) {
        Standing::Leased { owner: row.id(14)?, at: row.wall(15)? }
    } else if !row.is_null(16) {
        Standing::Dead { reason: row.text(16)?, at: row.wall(17)? }
    } else {
        Standing::Ready
    })
}
