//! Reads as SQL: a function from a session and its arguments to rows. Each names the tenant, and each has an index that answers
//! it without looking at other rows. Those of queues are in `queue_reads`, those of blobs in `blob_parts`.

use tokio_postgres::Row;
use windlass_domain::{OwnerId, Seq, Tenant, Wall};

use crate::chain::{ChainHead, Link};
use crate::commit::{Marker, Snapshot, TimerName};
use crate::lease::{Epoch, LeaseName, LeaseRow};
use crate::owner::OwnerRow;
use crate::providers::postgres::apply::first;
use crate::providers::postgres::codec::{Columns as _, Read, Text, digest, int, limit, millis, uuid};
use crate::providers::postgres::session::Session;
use crate::record::{StoredEvent, StoredTimer, StreamHead};
use crate::stream::{Position, StreamId};

const STREAM: &str = "
    SELECT position, $2, seq, kind, version, data, taint, at FROM events
    WHERE stream = (SELECT key FROM streams WHERE tenant = $1 AND name = $2) AND seq > $3
    ORDER BY seq LIMIT $4";

const EVENTS: &str = "
    SELECT position, name, seq, kind, version, data, taint, at, chain FROM events JOIN streams ON key = stream
    WHERE events.tenant = $1 AND position > $2
    ORDER BY position LIMIT $3";

const STREAMS: &str = "
    SELECT name, (SELECT max(seq) FROM events WHERE stream = key) FROM streams
    WHERE tenant = $1 AND name > $2 AND name < $3
    ORDER BY name DESC LIMIT $4";

pub(super) async fn stream(
    session: &Session,
    tenant: &Tenant,
    name: &StreamId,
    after: Seq,
    rows: usize,
) -> Read<Vec<StoredEvent>> {
    let found =
        session.query(STREAM, &[&Text(tenant.as_str()), &Text(name.as_str()), &int(after.0), &limit(rows)]).await?;
    found.iter().map(event).collect()
}

pub(super) async fn events(session: &Session, tenant: &Tenant, after: Position, rows: usize) -> Read<Vec<StoredEvent>> {
    let found = session.query(EVENTS, &[&Text(tenant.as_str()), &int(after.0), &limit(rows)]).await?;
    found.iter().map(event).collect()
}

pub(super) async fn links(session: &Session, tenant: &Tenant, after: Position, rows: usize) -> Read<Vec<Link>> {
    let found = session.query(EVENTS, &[&Text(tenant.as_str()), &int(after.0), &limit(rows)]).await?;
    let link = |row: &Row| {
        let chain = row.value::<Option<&[u8]>>(8)?.map(digest).transpose()?;
        Ok(Link { event: event(row)?, digest: chain })
    };
    found.iter().map(link).collect()
}

fn event(row: &Row) -> Read<StoredEvent> {
    Ok(StoredEvent {
        position: Position(row.uint(0)?),
        stream: StreamId::from_stored(&row.text(1)?),
        seq: Seq(row.uint(2)?),
        kind: row.value(3)?,
        version: row.version(4)?,
        data: row.value(5)?,
        taint: row.taint(6)?,
        at: row.wall(7)?,
    })
}

pub(super) async fn head(session: &Session, tenant: &Tenant, name: &StreamId) -> Read<Seq> {
    let sql = "SELECT coalesce(max(seq), 0) FROM events
               WHERE stream = (SELECT key FROM streams WHERE tenant = $1 AND name = $2)";
    let rows = session.query(sql, &[&Text(tenant.as_str()), &Text(name.as_str())]).await?;
    Ok(Seq(first(&rows)?.uint(0)?))
}

pub(super) async fn streams(
    session: &Session,
    tenant: &Tenant,
    kind: &str,
    before: Option<&StreamId>,
    rows: usize,
) -> Read<Vec<StreamHead>> {
    // '0' is the character after '/': every name of the kind lies between.
    let (from, end) = (format!("{kind}/"), format!("{kind}0"));
    let end = before.map_or(end.as_str(), StreamId::as_str);
    let found = session.query(STREAMS, &[&Text(tenant.as_str()), &Text(&from), &Text(end), &limit(rows)]).await?;
    let stream_head =
        |row: &Row| Ok(StreamHead { stream: StreamId::from_stored(&row.text(0)?), head: Seq(row.uint(1)?) });
    found.iter().map(stream_head).collect()
}

/// The last row of a tenant ends its last commit, so it holds the digest.
pub(super) async fn chain_head(session: &Session, tenant: &Tenant) -> Read<Option<ChainHead>> {
    let sql = "SELECT position, chain FROM events WHERE tenant = $1 ORDER BY position DESC LIMIT 1";
    let rows = session.query(sql, &[&Text(tenant.as_str())]).await?;
    let head = |row: &Row| Ok(ChainHead { position: Position(row.uint(0)?), digest: digest(row.value(1)?)? });
    rows.first().map(head).transpose()
}

pub(super) async fn is_marked(session: &Session, tenant: &Tenant, marker: &Marker) -> Read<bool> {
    let sql = "SELECT 1 FROM processed WHERE tenant = $1 AND scope = $2 AND key = $3";
    let rows = session.query(sql, &[&Text(tenant.as_str()), &Text(&marker.scope), &marker.key.as_bytes()]).await?;
    Ok(!rows.is_empty())
}

pub(super) async fn timers_due(
    session: &Session,
    tenant: Option<&Tenant>,
    now: Wall,
    rows: usize,
) -> Read<Vec<StoredTimer>> {
    let everybody_s = "SELECT name, due, queue, kind, version, data, taint, tenant FROM timers
                       WHERE due <= $1 ORDER BY due, tenant, name LIMIT $2";
    let one_s = "SELECT name, due, queue, kind, version, data, taint, tenant FROM timers
                 WHERE due <= $1 AND tenant = $3 ORDER BY due, tenant, name LIMIT $2";
    let (now, rows) = (millis(now), limit(rows));
    let found = match tenant {
        None => session.query(everybody_s, &[&now, &rows]).await?,
        Some(tenant) => session.query(one_s, &[&now, &rows, &Text(tenant.as_str())]).await?,
    };
    let timer = |row: &Row| {
        Ok(StoredTimer {
            tenant: Tenant::new(row.text(7)?),
            name: TimerName(row.text(0)?),
            due: row.wall(1)?,
            queue: row.text(2)?,
            kind: row.value(3)?,
            version: row.version(4)?,
            data: row.value(5)?,
            taint: row.taint(6)?,
        })
    };
    found.iter().map(timer).collect()
}

pub(super) async fn lease(session: &Session, tenant: &Tenant, lease: &LeaseName) -> Read<Option<LeaseRow>> {
    // One statement: epoch and holder are of the same moment.
    let sql = "SELECT owners.id, owners.epoch, host, boot_id, pid, beat, beat_at, retired, level, leases.epoch
               FROM leases LEFT JOIN owners ON owners.id = leases.owner
               WHERE leases.tenant = $1 AND name = $2";
    let rows = session.query(sql, &[&Text(tenant.as_str()), &Text(lease.as_str())]).await?;
    let found = |row: &Row| {
        let holder = if row.is_null(0) { None } else { Some(owner_row(row, 0)?) };
        Ok(LeaseRow { lease: lease.clone(), epoch: Epoch(row.uint(9)?), holder })
    };
    rows.first().map(found).transpose()
}

pub(super) async fn owner(session: &Session, owner: OwnerId) -> Read<Option<OwnerRow>> {
    let sql = "SELECT id, epoch, host, boot_id, pid, beat, beat_at, retired, level FROM owners WHERE id = $1";
    let rows = session.query(sql, &[&uuid(&owner)]).await?;
    rows.first().map(|row| owner_row(row, 0)).transpose()
}

/// Of a row whose column `from` is the owner's id, the others following in their order.
pub(super) fn owner_row(row: &Row, from: usize) -> Read<OwnerRow> {
    Ok(OwnerRow {
        id: row.id(from)?,
        epoch: Epoch(row.uint(from + 1)?),
        host: row.text(from + 2)?,
        boot_id: row.text(from + 3)?,
        pid: row.small(from + 4)?,
        beat: row.uint(from + 5)?,
        beat_at: row.wall(from + 6)?,
        retired: row.value(from + 7)?,
        level: row.small(from + 8)?,
    })
}

pub(super) async fn snapshot(session: &Session, tenant: &Tenant, stream: &StreamId) -> Read<Option<Snapshot>> {
    let sql = "SELECT seq, version, data FROM snapshots
               WHERE stream = (SELECT key FROM streams WHERE tenant = $1 AND name = $2)";
    let rows = session.query(sql, &[&Text(tenant.as_str()), &Text(stream.as_str())]).await?;
    let found = |row: &Row| {
        let (seq, version) = (Seq(row.uint(0)?), row.version(1)?);
        Ok(Snapshot { stream: stream.clone(), seq, version, data: row.value(2)? })
    };
    rows.first().map(found).transpose()
}

pub(super) async fn tenants(session: &Session) -> Read<Vec<Tenant>> {
    let rows = session.query("SELECT DISTINCT tenant FROM streams ORDER BY tenant", &[]).await?;
    rows.iter().map(|row| row.text(0).map(Tenant::new)).collect()
}
