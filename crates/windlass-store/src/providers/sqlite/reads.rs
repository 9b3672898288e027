//! Every read as SQL: a function from a connection and its arguments to rows. Each names the tenant, and each has an index
//! that answers it without looking at other rows.

use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};
use windlass_domain::{Digest, OwnerId, Seq, Taint, Tenant, Wall};

use crate::commit::{Snapshot, TimerName};
use crate::lease::{Epoch, LeaseName, LeaseRow};
use crate::owner::OwnerRow;
use crate::providers::sqlite::codec::{id, id_bytes, int, limit, taint, uint, version, wall};
use crate::record::{StoredEvent, StoredMessage, StoredTimer, StreamHead};
use crate::stream::{Position, StreamId};

pub(super) fn stream(
    connection: &Connection,
    tenant: &Tenant,
    name: &StreamId,
    after: Seq,
    rows: usize,
) -> Result<Vec<StoredEvent>> {
    let sql = "SELECT position, ?2, seq, kind, version, data, taint, at FROM events
               WHERE stream = (SELECT key FROM streams WHERE tenant = ?1 AND name = ?2) AND seq > ?3
               ORDER BY seq LIMIT ?4";
    let values = params![tenant.as_str(), name.as_str(), int(after.0), limit(rows)];
    connection.prepare_cached(sql)?.query_map(values, event)?.collect()
}

pub(super) fn events(
    connection: &Connection,
    tenant: &Tenant,
    after: Position,
    rows: usize,
) -> Result<Vec<StoredEvent>> {
    let sql = "SELECT position, name, seq, kind, version, data, taint, at FROM events JOIN streams ON key = stream
               WHERE events.tenant = ?1 AND position > ?2
               ORDER BY position LIMIT ?3";
    let values = params![tenant.as_str(), int(after.0), limit(rows)];
    connection.prepare_cached(sql)?.query_map(values, event)?.collect()
}

fn event(row: &Row<'_>) -> Result<StoredEvent> {
    Ok(StoredEvent {
        position: Position(uint(0, row.get(0)?)?),
        stream: StreamId::from_stored(row.get_ref(1)?.as_str()?),
        seq: Seq(uint(2, row.get(2)?)?),
        kind: row.get(3)?,
        version: version(4, row.get(4)?)?,
        data: row.get(5)?,
        taint: taint(row.get(6)?),
        at: wall(7, row.get(7)?)?,
    })
}

pub(super) fn head(connection: &Connection, tenant: &Tenant, name: &StreamId) -> Result<Seq> {
    let sql = "SELECT coalesce(max(seq), 0) FROM events
               WHERE stream = (SELECT key FROM streams WHERE tenant = ?1 AND name = ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row(params![tenant.as_str(), name.as_str()], |row| Ok(Seq(uint(0, row.get(0)?)?)))
}

pub(super) fn streams(
    connection: &Connection,
    tenant: &Tenant,
    kind: &str,
    before: Option<&StreamId>,
    rows: usize,
) -> Result<Vec<StreamHead>> {
    // '0' is the character after '/': every name of the kind lies between.
    let sql = "SELECT name, (SELECT max(seq) FROM events WHERE stream = key) FROM streams
               WHERE tenant = ?1 AND name > ?2 || '/' AND name < coalesce(?3, ?2 || '0')
               ORDER BY name DESC LIMIT ?4";
    let values = params![tenant.as_str(), kind, before.map(StreamId::as_str), limit(rows)];
    let stream_head = |row: &Row<'_>| {
        let stream = StreamId::from_stored(row.get_ref(0)?.as_str()?);
        Ok(StreamHead { stream, head: Seq(uint(1, row.get(1)?)?) })
    };
    connection.prepare_cached(sql)?.query_map(values, stream_head)?.collect()
}

pub(super) fn mailbox(
    connection: &Connection,
    tenant: &Tenant,
    name: &str,
    now: Wall,
    rows: usize,
) -> Result<Vec<StoredMessage>> {
    let sql =
        "SELECT id, mailbox, kind, version, data, taint, priority, not_before, enqueued_at, trace_id FROM messages
               WHERE tenant = ?1 AND mailbox = ?2 AND dead_reason IS NULL AND not_before <= ?3
               ORDER BY priority DESC, key LIMIT ?4";
    let values = params![tenant.as_str(), name, int(now.as_millis()), limit(rows)];
    connection.prepare_cached(sql)?.query_map(values, message)?.collect()
}

fn message(row: &Row<'_>) -> Result<StoredMessage> {
    Ok(StoredMessage {
        message_id: id(0, row.get(0)?)?,
        mailbox: row.get(1)?,
        kind: row.get(2)?,
        version: version(3, row.get(3)?)?,
        data: row.get(4)?,
        taint: taint(row.get(5)?),
        priority: row.get(6)?,
        not_before: wall(7, row.get(7)?)?,
        enqueued_at: wall(8, row.get(8)?)?,
        trace_id: row.get(9)?,
    })
}

pub(super) fn timers_due(connection: &Connection, tenant: &Tenant, now: Wall, rows: usize) -> Result<Vec<StoredTimer>> {
    let sql = "SELECT name, due, mailbox, kind, version, data, taint FROM timers
               WHERE tenant = ?1 AND due <= ?2 ORDER BY due, name LIMIT ?3";
    let values = params![tenant.as_str(), int(now.as_millis()), limit(rows)];
    let timer = |row: &Row<'_>| {
        Ok(StoredTimer {
            name: TimerName(row.get(0)?),
            due: wall(1, row.get(1)?)?,
            mailbox: row.get(2)?,
            kind: row.get(3)?,
            version: version(4, row.get(4)?)?,
            data: row.get(5)?,
            taint: taint(row.get(6)?),
        })
    };
    connection.prepare_cached(sql)?.query_map(values, timer)?.collect()
}

pub(super) fn lease(connection: &Connection, tenant: &Tenant, lease: &LeaseName) -> Result<Option<LeaseRow>> {
    // One statement: epoch and holder are of the same moment.
    let sql = "SELECT owners.id, owners.epoch, owners.tenant, host, boot_id, pid, beat, beat_at, retired, leases.epoch
               FROM leases LEFT JOIN owners ON owners.id = leases.owner
               WHERE leases.tenant = ?1 AND name = ?2";
    let found = |row: &Row<'_>| {
        let held = row.get_ref(0)? != rusqlite::types::ValueRef::Null;
        let holder = if held { Some(owner_row(row)?) } else { None };
        Ok(LeaseRow { lease: lease.clone(), epoch: Epoch(uint(9, row.get(9)?)?), holder })
    };
    connection.prepare_cached(sql)?.query_row(params![tenant.as_str(), lease.as_str()], found).optional()
}

pub(super) fn owner(connection: &Connection, owner: OwnerId) -> Result<Option<OwnerRow>> {
    let sql = "SELECT id, epoch, tenant, host, boot_id, pid, beat, beat_at, retired FROM owners WHERE id = ?1";
    connection.prepare_cached(sql)?.query_row(params![id_bytes(&owner)], owner_row).optional()
}

fn owner_row(row: &Row<'_>) -> Result<OwnerRow> {
    Ok(OwnerRow {
        id: id(0, row.get(0)?)?,
        epoch: Epoch(uint(1, row.get(1)?)?),
        tenant: Tenant::new(row.get::<_, String>(2)?),
        host: row.get(3)?,
        boot_id: row.get(4)?,
        pid: row.get(5)?,
        beat: uint(6, row.get(6)?)?,
        beat_at: wall(7, row.get(7)?)?,
        retired: row.get(8)?,
    })
}

pub(super) fn snapshot(connection: &Connection, tenant: &Tenant, stream: &StreamId) -> Result<Option<Snapshot>> {
    let sql = "SELECT seq, version, data FROM snapshots
               WHERE stream = (SELECT key FROM streams WHERE tenant = ?1 AND name = ?2)";
    let found = |row: &Row<'_>| {
        let (seq, version) = (Seq(uint(0, row.get(0)?)?), version(1, row.get(1)?)?);
        Ok(Snapshot { stream: stream.clone(), seq, version, data: row.get(2)? })
    };
    connection.prepare_cached(sql)?.query_row(params![tenant.as_str(), stream.as_str()], found).optional()
}

/// A blob's row: its taint, and its bytes where they are in the row.
pub(super) struct BlobRow {
    pub taint: Taint,
    pub data: Option<Vec<u8>>,
}

pub(super) fn blob(connection: &Connection, tenant: &Tenant, digest: Digest) -> Result<Option<BlobRow>> {
    let sql = "SELECT taint, data FROM blobs WHERE tenant = ?1 AND digest = ?2";
    let found = |row: &Row<'_>| Ok(BlobRow { taint: taint(row.get(0)?), data: row.get(1)? });
    connection.prepare_cached(sql)?.query_row(params![tenant.as_str(), digest.as_bytes()], found).optional()
}
